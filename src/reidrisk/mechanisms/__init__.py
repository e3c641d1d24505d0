"""What a system does between a person and the record."""

from reidrisk.mechanisms.top_k_noise import TopKNoise

__all__ = ["TopKNoise"]
