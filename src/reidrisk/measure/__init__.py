"""How often an attack is right, and how sure that is."""
