"""ProfileBayes: one set of interests behind two records, or two."""
