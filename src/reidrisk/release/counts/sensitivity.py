"""How much one user can move the counts: l2 sensitivities under adding or removing one user (dick, Section 4.2)."""

from __future__ import annotations

import math
from dataclasses import dataclass

from reidrisk.base.errors import OptionError


@dataclass(frozen=True)
class Block:
    """One table of counts that noise is added to."""

    name: str
    """``f11``, ``f22``, ``f12`` of two epochs; ``within``, ``across`` where counts are summed over more epochs."""
    sensitivity: float
    """Largest l2 distance between the tables of two data sets that differ in one user."""
    error: float
    """Summed squared error of the statistics q, times the number of users squared, for noise of variance 1."""


def measured_blocks(k: int, n_tokens: int, n_epochs: int) -> tuple[Block, ...]:
    r"""Return the tables that are measured on ``n_epochs`` epochs of sets of ``k`` tokens out of ``n_tokens``.

    Two epochs give :math:`f_{11}, f_{22}, f_{12}` with sensitivities :math:`\sqrt{\binom k2}, \sqrt{\binom k2}, k`
    (dick, Appendix A). More epochs, E of them, give the sums over epochs and over pairs of consecutive epochs: one user
    adds at most E to each of :math:`\binom k2` pairs and E - 1 to each of :math:`k^2`, and does when their set never
    changes.

    Examples
    --------
    >>> [(block.name, round(block.sensitivity, 3)) for block in measured_blocks(5, 469, 2)]
    [('f11', 3.162), ('f22', 3.162), ('f12', 5.0)]
    >>> [(block.name, round(block.sensitivity, 3)) for block in measured_blocks(5, 469, 4)]
    [('within', 12.649), ('across', 15.0)]
    """
    if n_epochs < 2:
        raise OptionError(
            f"pairs across epochs need at least 2 epochs, not {n_epochs}; give the sets of one more epoch"
        )
    pairs, cells = math.comb(n_tokens, 2), n_tokens**2
    # q_single is a sum of n_tokens - 1 entries of q_within over k - 1: its error counts with that of q_within.
    within = pairs * (1.0 + 2.0 / (k - 1) ** 2) if k > 1 else 0.0
    one = math.sqrt(math.comb(k, 2))
    if n_epochs == 2:
        found = [Block("f11", one, within / 4), Block("f22", one, within / 4), Block("f12", float(k), float(cells))]
    else:
        steps = n_epochs - 1
        found = [
            Block("within", n_epochs * one, within / n_epochs**2),
            Block("across", float(steps * k), cells / steps**2),
        ]
    # Sets of one token hold no pair: that table is 0 whatever the data, and needs no noise.
    return tuple(block for block in found if block.sensitivity > 0.0)
