"""The rows of a result: which queries are scored, and every attack measured on them, look by look."""

import dataclasses
from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from reidrisk import measure
from reidrisk.attacks import Attack, registry
from reidrisk.audit import plan
from reidrisk.audit.axis import Axis, Look
from reidrisk.audit.spec import AuditSpec
from reidrisk.base import DataError, Difference, Ints, Risk, Stage, Steps
from reidrisk.base.options import option
from reidrisk.measure.risk import chosen_queries, linked, risk_of_links
from reidrisk.records import Case, Truth
from reidrisk.search.engines import Engine


class DrawnQueries(NamedTuple):
    """Which queries are scored (``rows``), of how many drawn, their truth, and how many targets nobody asks for."""

    rows: Ints
    n_drawn: int
    everyone: bool
    truth: Truth | None
    n_unasked: int | None

    @classmethod
    def drawn(cls, case: Case, spec: AuditSpec, sample: int | None) -> Self:
        """Draw ``sample`` of the queries, or take all, and leave out who is not among the targets."""
        rows, _ = chosen_queries(len(case.queries), sample, spec.seed)
        drawn = np.arange(len(case.queries)) if rows is None else rows
        known = case.truth
        if known is None:
            return cls(drawn, len(drawn), rows is None, None, None)
        # Who is not among the targets cannot be found there, and would dilute the rate of those who can.
        matched = drawn[known.target[drawn] >= 0]
        if not matched.size:
            raise DataError(
                f"none of the {len(drawn):,} records drawn has a counterpart; draw more of them ({option('sample')})"
            )
        unasked = len(case.targets) - len(np.unique(known.target[known.target >= 0]))
        return cls(matched, len(drawn), rows is None, Truth(known.target[matched], known.origin), unasked)


class MeasuredRows:
    """The rows of a result, measured look by look on the same queries."""

    def __init__(self, axis: Axis, asked: DrawnQueries, spec: AuditSpec, engine: Engine | None) -> None:
        self.axis, self.asked, self.spec, self.engine = axis, asked, spec, engine
        self.risks: list[Risk] = []
        self.differences: list[Difference] = []
        self.left_out: list[plan.NotRun] = []
        self.refused: set[str] = set()  # the same attacks by the names of their rows
        self._last: dict[str, Any] = {}

    def _fitted(self, attack: Attack[Any], targets: Any) -> Attack[Any]:
        """Fit an attack, once where targets stay the same from look to look; those of others are fitted each time."""
        if self._last.get(attack.name) is not targets or not type(attack).__module__.startswith("reidrisk."):
            attack.fit(targets)
            self._last[attack.name] = targets
        return attack

    def _leave_out(self, attack: Attack[Any], error: DataError) -> None:
        """Note that a registered attack has nothing to learn here; refuse where no other runs, or it is unregistered.

        What it found at other looks is left out, too: a result has all rows of an attack, or none.
        """
        name = next((one.name for one in registry() if one.attack is type(attack)), None)
        gone = {one.attack for one in self.left_out} | {str(name)}
        if name is None or gone == {*(self.spec.attacks or ())}:
            raise error
        self._last.pop(attack.name, None)
        self.refused.add(attack.name)
        self.risks = [risk for risk in self.risks if risk.attack != attack.name]
        self.differences = [gap for gap in self.differences if attack.name not in (gap.attack, gap.other)]
        self.left_out = [plan.NotRun(one, "nothing to learn") for one in sorted(gone)]

    def measure(self, chosen: Sequence[Attack[Any]], look: Look, steps: Steps) -> None:
        """Try the attacks at one look; those for whole records only where it is at all of them."""
        assert self.asked.truth is not None
        targets, queries = self.axis.seen(look)
        part = queries.take(self.asked.rows)
        whole = look.n == self.axis.size
        here: list[Risk] = []
        for attack in chosen:
            at = Stage("attack-at", attack=attack.name, n=look.n, axis=self.axis.name, every=self.axis.every)
            steps.begin(at, self.axis.share(look))
            if (plan.for_whole(attack.name) and not whole) or attack.name in self.refused:
                continue
            try:
                links = linked(self._fitted(attack, targets).look_around(queries), part, self.engine)
            except DataError as error:
                self._leave_out(attack, error)
                continue
            row = risk_of_links(
                attack, targets, part, links, self.asked.truth, self.asked.everyone, self.spec.seed, self.spec.level
            )
            here.append(dataclasses.replace(row, n_epochs=look.n, which=look.which))
        self.risks += here
        if not look.which:
            self.differences += [measure.difference(other, here[0]) for other in here[1:]]
