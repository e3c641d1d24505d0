"""FLoC as Chrome computed it: hashes, SimHash, SortingLSH, one cohort per week."""
