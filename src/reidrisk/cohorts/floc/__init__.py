"""FLoC as Chrome computed it: hashes, SimHash, SortingLSH, a cohort a week."""
