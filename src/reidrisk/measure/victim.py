"""The known victim: one profile that the attacker already has, against the audience of a site (jha, Section 3.1)."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from reidrisk.attacks.base import Attack
from reidrisk.attacks.pooled import gathered
from reidrisk.attacks.registry import find_attack
from reidrisk.base import ArrayLike, DataError, Note, Risk, between_0_and_1, whole
from reidrisk.measure.risk import chosen_queries, risk_of_links
from reidrisk.records import Traces, Truth, find_truth


def known_victim(
    attack: Attack[Any] | str,
    audience: Any,
    victims: Any,
    truth: ArrayLike | Truth | None = None,
    sample: int | None = None,
    seed: int | None = None,
    level: float = 0.95,
) -> Risk:
    """Measure how often somebody whose profile the attacker knows is found in the audience of a site.

    The attacker holds one record, the victim's (a trace of another site or, with :func:`known_interests`, the
    interests), and searches the audience for it (jha, Section 3.1). Nobody else is around the victim, so an attack that
    asks who is unique (:class:`reidrisk.attacks.StrictSets`) asks it of the audience alone: below, two people expose
    the same; next to each other neither is unique, alone each is found. The rate is the mean over victims. Everything
    else is as for :func:`reidrisk.measure.random_user`.

    >>> from reidrisk import attacks
    >>> audience = Traces([[1, 1], [2, 2]], n_tokens=9)
    >>> twins = Traces([[1, 1], [1, 1]], n_tokens=9)
    >>> known_victim(attacks.StrictSets(), audience, twins, truth=[0, 0]).rate
    1.0
    """
    between_0_and_1("level", level)
    audience, victims = gathered(audience), gathered(victims)
    known = find_truth(audience, victims, truth)
    attack = find_attack(attack, audience)
    if len(audience) < 2:
        raise DataError("the audience is only 1 user, so every victim is linked to it; give at least 2 to choose from")
    rows, used = chosen_queries(len(victims), sample, seed)
    asked = victims if rows is None else victims.take(rows)
    target = known.target if rows is None else known.target[rows]
    attack = attack.one_by_one()
    attack.fit(audience).look_around(victims.take(slice(0, 0)))
    links, right = attack.link(asked), Truth(target, known.origin)
    risk = risk_of_links(attack, audience, asked, links, right, rows is None, used, level)
    return replace(risk, setting="known victim", notes=(*risk.notes, Note("victims-alone")))


def known_interests(interests: Sequence[Iterable[int]], n_tokens: int, times: int = 10, users: Any = None) -> Traces:
    """Write interests that are known, without any observation, as records that attacks on sets can search for.

    ``interests`` is a collection of tokens for each person. Every token appears ``times`` times, so that with any
    threshold f up to it G = R^f = the interests; an attack with a larger threshold keeps nothing.

    >>> known_interests([{3, 5}, {4}], n_tokens=9, times=2).tokens.tolist()
    [[3, 5, 3, 5], [4, -1, 4, -1]]
    """
    times = whole("times", times)
    sets = [_tokens(row, one) for row, one in enumerate(interests)]
    table = np.full((len(sets), max((len(one) for one in sets), default=1)), -1, dtype=np.int64)
    for row, one in enumerate(sets):
        table[row, : len(one)] = one
    return Traces(np.tile(table, (1, times)), n_tokens, users=users)


def _tokens(row: int, given: Any) -> list[int]:
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise DataError(f"what is known of person {row} is {given!r}; give a collection of tokens, such as {{3, 5}}")
    found = set()
    for token in given:
        if isinstance(token, bool) or not isinstance(token, int | np.integer) or token < 0:
            raise DataError(f"person {row} has the token {token!r}; tokens are whole numbers of at least 0")
        found.add(int(token))
    if not found:
        raise DataError(f"nothing is known of person {row}; give at least one token")
    return sorted(found)
