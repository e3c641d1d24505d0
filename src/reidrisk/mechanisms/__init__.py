"""What a system does between a person and the record."""

from reidrisk.mechanisms.popularity import pairs_from_observers, pairs_from_sets, popularity
from reidrisk.mechanisms.top_k_noise import TopKNoise, token_probabilities

__all__ = ["TopKNoise", "pairs_from_observers", "pairs_from_sets", "popularity", "token_probabilities"]
