"""What the service keeps: its tables, how they came about, and how they are read and written."""
