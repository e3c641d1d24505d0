"""Differentially private counts and the statistics made of them."""
