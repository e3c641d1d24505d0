"""Sections of the page of an audit."""
