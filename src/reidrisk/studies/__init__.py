"""Each published table and figure, run again, beside the published numbers."""
