"""Galozy et al., Beyond random noise."""
