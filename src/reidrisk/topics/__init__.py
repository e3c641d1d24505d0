"""The Topics API: what one observer sees of a user."""
