"""Sections of the page of a trade-off."""
