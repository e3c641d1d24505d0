"""What a system does between a person and the record."""

from reidrisk.mechanisms.other import Other
from reidrisk.mechanisms.popularity import pairs_from_observers, pairs_from_sets, popularity
from reidrisk.mechanisms.registry import Entry, Mechanism, entry, register, registry
from reidrisk.mechanisms.top_k_noise import TopKNoise, token_probabilities

__all__ = ["Entry", "Mechanism", "Other", "TopKNoise", "entry", "register", "registry"]
__all__ += ["pairs_from_observers", "pairs_from_sets", "popularity", "token_probabilities"]
