"""The sharing service: agents join a group, share what they learnt, and receive what fits them (galozy, Section 3)."""
