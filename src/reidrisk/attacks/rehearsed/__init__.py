"""The attacker who rehearses: who practises every attack on the targets, and then uses what worked."""

from reidrisk.attacks.rehearsed.attack import Rehearsed

__all__ = ["Rehearsed"]
