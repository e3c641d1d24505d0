"""Sections about cohorts: how many give something away, how large the gaps are, what blocking costs and to whom."""
