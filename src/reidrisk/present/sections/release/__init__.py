"""Sections about a release: errors of the model, noise, budget, the attack on it, and the real people."""
