"""Amounts or events: what to count where a log has both, and nobody said which tells people apart.

Three of one thing bought at once may be habit or chance. Where it is chance, adding amounts up hides what the number of
purchases would show, and a weaker number comes out. The attacker can try that on the known records alone: split their
events at random, and see which of the two counts links the halves more often.
"""

from collections.abc import Sequence
from typing import Any

from reidrisk import measure
from reidrisk.attacks import Hellinger, TfIdf
from reidrisk.base import DataError, Note
from reidrisk.records import Events
from reidrisk.scenarios import Split

_PEOPLE = 2_000  # of the known records on whom it is tried


def settle_amounts(tables: Sequence[Any], seed: int) -> tuple[list[Any], tuple[Note, ...]]:
    """Return the logs with their amounts, or with each event counted once where that tells more; and what was found.

    Tried on the first log, split at random by events, with the better of two plain attacks; no truth is used. Amounts
    stay where both ways tell the same, and in tables that already hold one row per person and item.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> what = np.concatenate([rng.choice(30, 40, p=taste) for taste in rng.dirichlet(np.full(30, 0.3), 200)])
    >>> log = {"who": np.repeat(np.arange(200), 40), "what": what, "n": rng.geometric(0.02, 8000)}
    >>> events = Events(log, user="who", items="what", amount="n")
    >>> (settled,), (note,) = settle_amounts([events], seed=1)
    >>> settled.has_amounts, note.code, note["events"] > note["amounts"]
    (False, 'amounts-left-out', True)
    """
    if not all(isinstance(table, Events) for table in tables) or not any(table.has_amounts for table in tables):
        return list(tables), ()
    first: Events = tables[0]
    few = first.take(first.user < _PEOPLE)
    try:
        amounts, events = (halves_linked(log, seed) for log in (few, few.counted()))
    except DataError:  # nobody has events to be split
        return list(tables), ()
    if events <= amounts:
        return list(tables), (Note("amounts-counted", amounts=amounts, events=events),)
    return [table.counted() for table in tables], (Note("amounts-left-out", amounts=amounts, events=events),)


def halves_linked(log: Events, seed: int) -> float:
    """Return how many halves of records, split at random by events, the better of two plain attacks links."""
    targets, queries, truth = Split(log, by="random").case(seed)
    return max(
        measure.random_user(attack, targets, queries, truth, seed=seed).rate for attack in (Hellinger(), TfIdf())
    )
