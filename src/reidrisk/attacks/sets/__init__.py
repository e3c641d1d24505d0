"""The set attacks: profiles that fit each other and nobody else's."""
