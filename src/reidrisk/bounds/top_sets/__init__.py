"""Bounds where a system shows one of a person's top tokens: with full and with partial information."""
