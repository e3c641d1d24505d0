"""Pair networks: how much more probable two records are if one person left both; torch and NumPy alone."""

from reidrisk.sequence.pairs.sizes import PairSchedule, PairSizes

__all__ = ["PairSchedule", "PairSizes"]
