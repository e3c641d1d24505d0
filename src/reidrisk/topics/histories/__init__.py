"""Browsing histories: read, replayed into top sets or through browsers by the specification."""
