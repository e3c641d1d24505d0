"""How far down the list the right record stands, and how many people a choosy attacker finds: for audits of vectors."""

from typing import Any

import numpy as np

from reidrisk.attacks import Attack
from reidrisk.audit.suppress import few
from reidrisk.base import Floats, Ints, Note
from reidrisk.measure.risk import credits, linked
from reidrisk.search.engines import Engine

_FIRST = (1, 2, 5, 10, 20, 50, 100)
_PRECISION = (0.9, 0.99)
_QUERIES = 2_000  # whose candidates are looked at


def rank_notes(
    attack: Attack[Any], queries: Any, truth: Ints, n_targets: int, least: int, engine: Engine | None = None
) -> tuple[Note, ...]:
    """Return where the true targets stand among an attack's candidates, and its recall at high precision.

    ``rank-curve``: the share of people whose target is among the first k, ties broken at random.
    ``recall-at-precision``: the largest share of people linked rightly by an attacker who answers only where the score,
    or its probability, is high enough that 90 or 99 in 100 answers are right. That limit is chosen with the truth, so
    it is what the luckiest choice gives. Shares that would tell of fewer than ``least`` people are left out.
    """
    some = slice(0, min(len(queries), _QUERIES))
    asked, own = queries.take(some), truth[some]
    n, most = len(own), min(_FIRST[-1], n_targets)
    _, scores = attack.candidates(asked, most, engine=engine)
    reached = attack.score(asked, own)
    better, tied = (scores > reached[:, None]).sum(axis=1), (scores == reached[:, None]).sum(axis=1)
    shares = {}
    for k in (k for k in _FIRST if k <= most):
        there = np.clip((k - better) / np.maximum(tied, 1), 0.0, 1.0)
        shares[k] = float(np.where(tied > 0, there, 0.0).mean())
    kept: list[list[float]] = []
    for k, share in shares.items():
        last = kept[-1][1] if kept else 0.0
        if not few((share - last) * n, least) and not few((1.0 - share) * n, least):
            kept.append([k, share])
    links = linked(attack, asked, engine, probability=True)
    sure = links.score.astype(np.float64) if links.probability is None else links.probability
    right = credits(attack, asked, links, own)
    recalls = [[p, recall] for p in _PRECISION if not few((recall := _recall(sure, right, p)) * n, least)]
    values = {"attack": attack.name, "n": n, "among": n_targets}
    notes = (Note("rank-curve", at=kept, **values), Note("recall-at-precision", at=recalls, **values))
    return tuple(note for note in notes if note["at"])


def _recall(sure: Floats, right: Floats, precision: float) -> float:
    """Return the largest share of all that is linked rightly where at least ``precision`` of the answers are right.

    Links that are equally sure are answered together.

    >>> _recall(np.array([0.9, 0.8, 0.7]), np.array([1.0, 1.0, 0.0]), 0.9).__round__(2)
    0.67
    """
    order = np.argsort(-sure, kind="stable")
    total = np.cumsum(right[order])
    last = np.append(np.diff(sure[order]) != 0, True)
    good = last & (total >= precision * np.arange(1, len(total) + 1) - 1e-9)
    return float(total[good].max(initial=0.0)) / len(total)
