"""Jha et al., Re-identification attacks against the Topics API."""
