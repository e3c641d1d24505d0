"""Pages: each is an ordered list of the functions that make its sections."""
