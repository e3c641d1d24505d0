"""Ways in which an attacker meets a data set, by name: halves, a later half, a few known facts, a fifth, disjoint."""

from collections.abc import Callable
from functools import partial
from typing import Any

from reidrisk.base.streams import stream
from reidrisk.bench.sources import Sites
from reidrisk.records import Case, Events
from reidrisk.scenarios import Knows, Split, TwoTables
from reidrisk.scenarios.base import two_sides

Setting = Callable[[Any, int], Case | None]
"""From the records of a data set and a seed to a case; none where it has no meaning for them."""


def _two_tables(data: Events | Sites, seed: int) -> Case | None:
    return TwoTables(data.targets, data.queries).case(seed) if isinstance(data, Sites) else None


def _split(data: Events | Sites, seed: int, **how: Any) -> Case | None:
    untimed = how.get("by") == "time" and isinstance(data, Events) and data.time is None
    return None if isinstance(data, Sites) or untimed else Split(data, **how).case(seed)


def _sessions(data: Events | Sites, seed: int, share: float) -> Case | None:
    """Send each event to one side; where the log has sessions, each session whole."""
    if isinstance(data, Sites) or not data.columns:
        return _split(data, seed, by="random", share=share)
    session, names = data.kept(data.columns[0])
    coins = stream(seed, "bench: sessions").random(len(names) + 1)  # the last one is for events of no session, -1
    asked = (coins < share)[session]
    one, two = (data.take(part).bags().with_timeline(None) for part in (~asked, asked))  # as Split does
    return two_sides(one, two, data.notes)


def _knows(data: Events | Sites, seed: int, facts: int) -> Case | None:
    return None if isinstance(data, Sites) else Knows(data, facts=facts).case(seed)


SETTINGS: dict[str, Setting] = {
    "two-tables": _two_tables,
    "halves": partial(_sessions, share=0.5),
    "later": partial(_split, by="time", share=0.5),
    "independent": partial(_split, by="random", share=0.5, independent=True),
    "knows-2": partial(_knows, facts=2),
    "knows-4": partial(_knows, facts=4),
    "knows-8": partial(_knows, facts=8),
    "knows-16": partial(_knows, facts=16),
    "one-in-five": partial(_sessions, share=0.2),
    "apart": partial(_split, by="random", share=0.5, apart=True),
}
"""Two observers of the same people; half of the events, or sessions, on each side; the later half of each person's
events; each side sees half of the events, whatever the other sees; the attacker knows that many facts and holds the
whole table; a fifth of the events is to be named; no item on both sides."""
