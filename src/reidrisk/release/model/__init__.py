"""A mixture of types fitted to the statistics, and users drawn from it."""
