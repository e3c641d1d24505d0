"""Values of events, such as ratings: whether two logs say the same of what a person did, so that it counts, too.

Who rates a film with five stars on one site hardly rates it with one on another. Where that holds, an attacker who goes
by the films alone is a weak one; where values are as good as drawn anew, whoever counts them drowns what films tell.
Both tables together say which it is, without truth: link them by items, take the links that no other query shares, and
see how often values of the same item agree, beside how often those of other people would.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from reidrisk.attacks import Matched
from reidrisk.base import Floats, Ints, Note
from reidrisk.records import Events

_PAIRS = 16_000_000  # pairs of records above which it is not tried
_FEWEST = 50  # items of linked pairs that both hold, at least
_ERRORS = 4.0  # standard errors by which agreement must be above chance
_SHARE = 0.4  # of what it could be above chance, that it must be at least; at a third, links were lost again


def settle_values(tables: Sequence[Any]) -> tuple[list[Any], tuple[Note, ...]]:
    """Return two logs with the values of events beside their items, where both say the same of a person; and the note.

    Of several columns that do, the one that agrees most beyond chance counts. Nothing changes with one log, without
    times, or where links by items alone tell nothing.

    >>> rng = np.random.default_rng(0)
    >>> people = np.repeat(np.arange(60), 30)
    >>> film = np.concatenate([rng.choice(80, 30, replace=False) for _ in range(60)])
    >>> log = {"who": people, "film": film, "day": np.arange(1800), "stars": rng.integers(1, 6, 1800)}
    >>> one = Events(log, user="who", items="film", time="day", keep="stars")
    >>> two = Events(log | {"stars": rng.integers(1, 6, 1800)}, user="who", items="film", time="day", keep="stars")
    >>> settle_values([one, one])[1][0].code, settle_values([one, two])[1]
    ('values-counted', ())
    """
    if len(tables) != 2 or not all(isinstance(table, Events) and table.time is not None for table in tables):
        return list(tables), ()
    one, two = tables
    columns = [name for name in one.columns if name in two.columns]
    if not columns or one.n_users * two.n_users > _PAIRS or min(one.n_users, two.n_users) < 2:
        return list(tables), ()
    targets, queries = one.bags(), two.bags()
    links = Matched().fit(targets).look_around(queries).link(queries).target
    once = np.flatnonzero(np.bincount(links, minlength=len(targets))[links] == 1)
    found = {name: _agreement(one, two, name, once, links[once]) for name in columns}
    name = max(found, key=lambda name: found[name][2])
    agree, chance, share = found[name]
    if share < _SHARE:
        return list(tables), ()
    both = [table.beside(name) for table in tables]
    labels = sorted({label for table in both for label in table.vocabulary.labels})
    vocabulary = type(one.vocabulary)(labels)
    note = Note("values-counted", column=name, agree=agree, chance=chance)
    return [table.over(vocabulary) for table in both], (note,)


def _agreement(one: Events, two: Events, name: str, queries: Ints, targets: Ints) -> tuple[float, float, float]:
    """Return how often values of linked records agree, how often they would by chance, and how far beyond; 0 = no."""
    values = {value: code for code, value in enumerate(dict.fromkeys((*one.kept(name)[1], *two.kept(name)[1])))}
    known, asked = (_last_values(log, name, values) for log in (one, two))
    usual: dict[int, Floats] = {}
    for (_, item), value in known.items():
        usual.setdefault(item, np.zeros(len(values)))[value] += 1.0
    linked, agree, chance = dict(zip(queries.tolist(), targets.tolist(), strict=True)), [], []
    for (user, item), value in asked.items():
        own = known.get((linked.get(user, -1), item))
        others = usual.get(item)
        if own is None or others is None or others.sum() < 2:
            continue
        agree.append(own == value)
        chance.append((others[value] - (own == value)) / (others.sum() - 1.0))
    if len(agree) < _FEWEST:
        return 0.0, 1.0, 0.0
    mean, usually = float(np.mean(agree)), float(np.mean(chance))
    error = math.sqrt(max(usually * (1.0 - usually), 1e-9) / len(agree))
    clear = mean > usually + _ERRORS * error
    return mean, usually, (mean - usually) / max(1.0 - usually, 1e-9) if clear else 0.0


def _last_values(log: Events, name: str, values: dict[str, int]) -> dict[tuple[int, int], int]:
    """Return the last value of each user and item, where there is one."""
    codes, labels = log.kept(name)
    there = np.flatnonzero(codes >= 0)
    new = np.array([values[label] for label in labels], dtype=np.int64)[codes[there]]
    return dict(zip(zip(log.user[there].tolist(), log.item[there].tolist(), strict=True), new.tolist(), strict=True))
