"""Linking all queries at once, each target to one of them at most, by the likelihoods of another attack."""

from reidrisk.attacks.one_to_one.attack import OneToOne

__all__ = ["OneToOne"]
