"""The most exposed people are left out: chosen by a rule that others teach, so that the choice is no hindsight."""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from reidrisk.attacks import TfIdf
from reidrisk.base import DataError, Floats, Note, between_0_and_1, stream
from reidrisk.measure.risk import credits
from reidrisk.mitigations import rows as observed
from reidrisk.mitigations.base import Mitigation, Side, View
from reidrisk.mitigations.registry import register
from reidrisk.records import Attributes, Bags, Case, Traces, Truth

_FEWEST = 20  # people of each half, at least


@register(kinds=(Traces, Bags, Attributes), strengths=(0.02, 0.05, 0.2))
@dataclass(frozen=True)
class DropPeople(Mitigation):
    """Leave out the ``share`` of people who are most exposed, as far as their records tell.

    Half of the people, drawn with the seed, teach which records are linked (by :class:`reidrisk.attacks.TfIdf`): a
    least-squares fit of being linked on the size of a record, how rare its rarest item is and how rare its items are on
    average. Of the other half the ``share`` with the largest prediction is left out, and the case asks about that half
    alone: who was chosen for having been found would make any release look safe. Those who stay may become exposed
    in their turn, because there are fewer to be taken for.

    >>> rng = np.random.default_rng(0)
    >>> table = Bags(rng.poisson(rng.gamma(0.1, 8.0, (100, 30))) + 1)
    >>> case = DropPeople(share=0.2).apply(Case(table, table, Truth(np.arange(100), "rows")))
    >>> case
    Case(100 targets, 40 queries of Bags, truth rows)
    """

    share: float

    def __post_init__(self) -> None:
        between_0_and_1("share", self.share)

    def check(self, case: Any, seed: int, side: str) -> None:
        """Refuse a case without truth, from which nobody can learn who is exposed, or with too few people."""
        super().check(case, seed, side)
        if case.truth is None:
            raise DataError("DropPeople must know who is exposed, and this case has no truth; give the true pairs")
        if len(np.unique(case.truth.target)) < 2 * _FEWEST:
            raise DataError(f"DropPeople learns on half of the people, and needs {2 * _FEWEST} of them at least")

    @classmethod
    def ladder(cls, case: Case) -> tuple[Self, ...]:
        """Return shares from 0.01 to 0.8."""
        return tuple(cls(share) for share in (0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8))

    def released(self, case: Case, seed: int = 0, side: Side = "queries") -> View:
        """Return the case without those people: on the side that is released, and asking about one half alone."""
        self.check(case, seed, side)
        truth = case.known_truth
        person = np.where(truth.target >= 0, truth.target, len(case.targets) + np.arange(len(case.queries)))
        people = np.unique(person)
        taught = np.isin(person, stream(seed, "change: drop-people").permutation(people)[: len(people) // 2])
        expected = _expected(case, taught)
        asked = np.unique(person[~taught])
        worst = np.full(len(asked), -np.inf)
        np.maximum.at(worst, np.searchsorted(asked, person[~taught]), expected[~taught])
        gone = asked[np.argsort(-worst, kind="stable")[: round(self.share * len(asked))]]
        stays = np.flatnonzero(~taught & ~np.isin(person, gone)) if side != "targets" else np.flatnonzero(~taught)
        targets, known_as = case.targets, None
        target = truth.target[stays]
        if side != "queries":
            left = np.setdiff1d(np.arange(len(targets)), gone)
            targets, known_as = targets.take(left), left
            place = np.full(len(case.targets) + 1, -1, dtype=np.int64)
            place[left] = np.arange(len(left))
            target = place[target]
        note = Note("people-dropped", n=len(gone), of=len(asked))
        named, notes = Truth(target, truth.origin), (*case.notes, self.note(side), note)
        changed = replace(case, targets=targets, queries=case.queries.take(stays), truth=named, notes=notes)
        return View(changed, stays, known_as, asked=np.flatnonzero(~taught))

    def _changed(self, table: Any, learnt: Any, rng: np.random.Generator) -> Any:
        return table


def _expected(case: Case, taught: Any) -> Floats:
    """Return how likely each query is linked, as far as its record tells, by a fit to those that teach."""
    rows = np.flatnonzero(taught)
    attack = TfIdf().fit(case.targets)
    asked = case.queries.take(rows)
    truth = case.known_truth
    found = credits(attack, asked, attack.link(asked), truth.target[rows])
    traits = _traits(case)
    fitted = np.linalg.lstsq(traits[rows], found, rcond=None)[0]
    return np.asarray(traits @ fitted)


def _traits(case: Case) -> Floats:
    held = observed.observations(case.queries)
    rare = -np.log((observed.holders(case.queries)[held.indices] + 1.0) / (len(case.queries) + 1.0))
    row = np.repeat(np.arange(held.shape[0]), np.diff(held.indptr))
    rarest = np.zeros(held.shape[0])
    np.maximum.at(rarest, row, rare)
    total = np.bincount(row, weights=rare, minlength=held.shape[0])
    size = np.log1p(observed.sizes(case.queries))
    return np.column_stack((np.ones(len(size)), size, rarest, total / np.maximum(np.diff(held.indptr), 1), total))
