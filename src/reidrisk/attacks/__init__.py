"""Attackers: each answers, for a query, which of the targets it is."""

from reidrisk.attacks.base import Attack, Links
from reidrisk.attacks.full_information import FullInformation
from reidrisk.attacks.hamming import Hamming, WeightedHamming
from reidrisk.attacks.overlap import Overlap

__all__ = ["Attack", "FullInformation", "Hamming", "Links", "Overlap", "WeightedHamming"]
