"""Attackers: each answers, for a query, which of the targets it is."""

from reidrisk.attacks.base import Attack, Links
from reidrisk.attacks.hamming import Hamming, WeightedHamming

__all__ = ["Attack", "Hamming", "Links", "WeightedHamming"]
