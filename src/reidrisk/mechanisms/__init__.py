"""What a system does between a person and the record."""
