"""Exact best matches of queries among targets."""
