"""Attacks on vectors: the nearest, and the likelihood ratio of one person against two."""
