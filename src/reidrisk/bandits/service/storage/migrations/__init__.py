"""The steps by which a database reaches the tables of this version, oldest first."""
