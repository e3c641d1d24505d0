"""Numbers as items: whether each value is an item of its own, or values near each other are one.

A log of steps per hour, of heart rates or of prices has a number where others have an item. That 4,117 steps and 4,120
are nearly the same is lost where each is an item, and a weak number comes out; numbers that are ids of items are
blurred where near ones are one. The attacker can try both on the known records alone: split their events at random, and
see which of the two links the halves more often.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from reidrisk.audit.amounts import halves_linked
from reidrisk.base import DataError, Floats, Ints, Note
from reidrisk.base.vocabulary import Vocabulary
from reidrisk.records import Events

_PEOPLE = 2_000  # of the known records on whom it is tried
_VALUES = 40  # different numbers from which on they may be too fine
_BANDS = 16  # into which all events are divided as evenly as their values allow
_AGAIN, _TOLD = 0.5, 10.0  # of what chance repeats, below which items are had once; and repeats by chance that tell it


def settle_numbers(tables: Sequence[Any], seed: int) -> tuple[list[Any], tuple[Note, ...]]:
    """Return logs whose items are numbers with these in bands, where that tells more; and what was found.

    Bands are quantiles of the events of the first log, so that a number that is had very often is a band of its own.
    Tried on the first log, split at random by events, with the better of two plain attacks; no truth is used. Numbers
    stay as they are where both ways tell the same, where some item is no number, or where people have each of them
    once: films that were rated, by number. No half shares one with the other, which says nothing of bands.

    >>> rng = np.random.default_rng(0)
    >>> usual = np.repeat(rng.normal(5000.0, 1500.0, 40), 60)
    >>> log = {"who": np.repeat(np.arange(40), 60), "steps": rng.normal(usual, 400.0).astype(int)}
    >>> (banded,), (note,) = settle_numbers([Events(log, user="who", items="steps")], seed=1)
    >>> banded.n_tokens, note.code, note["banded"] > note["exact"]
    (16, 'numbers-banded', True)
    """
    if not all(isinstance(table, Events) for table in tables) or tables[0].n_tokens < _VALUES:
        return list(tables), ()
    values = [_numbers(table) for table in tables]
    if any(one is None for one in values):
        return list(tables), ()
    first: Events = tables[0]
    if _had_once(first):
        return list(tables), ()
    edges = _edges(np.asarray(values[0])[first.item])
    if len(edges) < 2:
        return list(tables), ()
    labels = Vocabulary(_labels(edges))
    banded = [table.merged(_band(np.asarray(one), edges), labels) for table, one in zip(tables, values, strict=True)]
    try:
        exact, near = (halves_linked(log.take(log.user < _PEOPLE), seed) for log in (first, banded[0]))
    except DataError:  # nobody has events to be split
        return list(tables), ()
    if near <= exact:
        return list(tables), ()
    return banded, (Note("numbers-banded", bands=len(labels), values=first.n_tokens, exact=exact, banded=near),)


def _numbers(log: Events) -> Floats | None:
    """Return the number that each item is; None where some is none."""
    try:
        found = np.array([float(label) for label in log.vocabulary.labels])
    except ValueError:
        return None
    return found if np.isfinite(found).all() else None


def _had_once(log: Events) -> bool:
    """Whether people have an item again clearly less often than chance would repeat it, by how common items are.

    >>> _had_once(Events({"who": [1] * 40 + [2] * 40, "film": [*range(40), *range(40)]}, user="who", items="film"))
    True
    """
    _, events = np.unique(log.user * log.n_tokens + log.item, return_counts=True)
    each, common = np.bincount(log.user), np.bincount(log.item) / max(len(log.item), 1)
    by_chance = float((each * (each - 1.0)).sum()) / 2.0 * float((common**2).sum())
    again = float((events * (events - 1.0)).sum()) / 2.0
    return by_chance >= _TOLD and again < _AGAIN * by_chance


def _edges(numbers: Floats) -> Floats:
    """Return where bands begin, but for the first: rising numbers."""
    ordered = np.sort(numbers)
    cuts = ordered[(np.arange(1, _BANDS) * len(ordered)) // _BANDS]
    return np.unique(cuts[cuts > ordered[0]])


def _band(numbers: Floats, edges: Floats) -> Ints:
    return np.searchsorted(edges, numbers, side="right").astype(np.int64)


def _labels(edges: Floats) -> list[str]:
    shown = [f"{edge:.12g}" for edge in edges]
    inner = [f"{low} to below {high}" for low, high in pairwise(shown)]
    return [f"below {shown[0]}", *inner, f"{shown[-1]} and more"]
