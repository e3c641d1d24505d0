"""New pseudonyms: every few periods a person's record begins anew, under another name."""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from reidrisk.base import DataError, Ints, whole
from reidrisk.mitigations.base import Mitigation, Side, View
from reidrisk.mitigations.pooling import joined, next_pseudonyms, stacked
from reidrisk.mitigations.registry import register
from reidrisk.records import Bags, Case, RawTable, Traces, Truth
from reidrisk.records.calendar import days_by_hour
from reidrisk.records.traces import TokenRecords


@register(kinds=(Traces, Bags), strengths=(4, 2, 1))
@dataclass(frozen=True)
class Rotate(Mitigation):
    """Give every person a new pseudonym after ``every`` periods (Bags: visits).

    A person is found if any of their pseudonyms is linked to them, and :func:`reidrisk.mitigations.tried` quotes people
    found. Where periods are independent and p is the chance to link one, S pseudonyms are linked with probability
    1 - (1 - p)^S. Pseudonyms without any observation do not exist.

    An attacker who knows of it first links pseudonyms of one table to each other: the next one of a person is the one
    whose items are nearest (:class:`reidrisk.attacks.TfIdf`), where each is the other's only best. What belongs
    together they pool, and look for it as one record; the pseudonyms that stay alone, one by one.

    Several known records may then be of one person: the truth of a query names the one of the same periods, where there
    is one, and ``View.known_as`` says whose the others are.

    >>> table = Traces([[0, 1, 2], [3, 4, 5]], n_tokens=6)
    >>> case = Rotate(every=2).apply(Case(table, table, Truth(np.arange(2), "rows")))
    >>> case.queries.tokens.tolist(), case.truth.target.tolist()
    ([[0, 1, -1], [-1, -1, 2], [3, 4, -1], [-1, -1, 5]], [0, 0, 1, 1])
    """

    every: int

    def __post_init__(self) -> None:
        whole("every", self.every)

    def check(self, case: Any, seed: int, side: str) -> None:
        """Refuse bags whose visits are not known: without periods there is no moment to begin anew."""
        super().check(case, seed, side)
        tables = (case.targets, case.queries)
        if isinstance(case.queries, Bags) and any(one.visits is None for one in tables):
            raise DataError(
                "Rotate needs periods, and these Bags do not know their visits; make them of Events with time="
            )
        if any(isinstance(one, Bags) and one.clock is not None and one.timeline is None for one in tables):
            raise DataError("Rotate needs the moments of events where their hours are known; compare two tables")

    @classmethod
    def usual(cls, case: Case) -> tuple[Self, ...]:
        """Return those of 4, 2 and 1 that are fewer than the periods there are."""
        longest = _longest(case.queries)
        return tuple(cls(k) for k in cls.strengths if k < longest)

    @classmethod
    def ladder(cls, case: Case) -> tuple[Self, ...]:
        """Return numbers of periods, half of what there is down to 1."""
        half = -(-_longest(case.queries) // 2)
        return tuple(cls(int(k)) for k in np.unique(np.geomspace(1, max(half, 1), 12).astype(int))[::-1])

    def released(self, case: Case, seed: int = 0, side: Side = "queries") -> View:
        """Return the changed case: every pseudonym is a record."""
        self.check(case, seed, side)
        queries, part_of, moment = self._parted(case.queries, side in ("queries", "both"))
        targets, known_as, when = self._parted(case.targets, side in ("targets", "both"))
        truth = None
        if case.truth is not None:
            rows = case.truth.target[part_of]
            truth = Truth(_same_moment(rows, moment, known_as, when), case.truth.origin)
        notes = (*case.notes, self.note(side))
        changed = replace(case, targets=targets, queries=queries, truth=truth, notes=notes)
        return View(changed, part_of, None if side == "queries" else known_as)

    def known_to_attacker(self, case: Case, seed: int = 0, side: Side = "queries", rows: Ints | None = None) -> View:
        """Return the case after the attacker has pooled what seems to belong together, on the side that is changed.

        Of known records, pools are looked at beside the pseudonyms themselves: a wrong pool would only hide people.
        """
        view = self.released(case, seed, side)
        if side != "queries":
            view = self._with_pools(case, view, rows)
        if side == "targets":
            return view
        asked = np.arange(len(case.queries)) if rows is None else np.sort(np.asarray(rows, dtype=np.int64))
        table, part_of = view.case.queries, view.part_of
        moment = self._parted(case.queries, True)[2]
        first = np.searchsorted(part_of, asked)  # a person's pseudonyms lie together
        chain = next_pseudonyms(table, moment, first)
        own = np.flatnonzero(np.isin(part_of, asked))
        alone = own[chain[np.searchsorted(asked, part_of[own]), moment[own]] != own]
        chosen = np.concatenate((first, alone))
        queries = stacked(joined(table, chain), table.take(alone))
        truth = view.case.truth
        if truth is not None:
            truth = Truth(truth.target[chosen], truth.origin)
        return replace(view, case=replace(view.case, queries=queries, truth=truth), part_of=part_of[chosen])

    def helps_to_know(self, side: Side = "queries") -> bool:
        """Whether there are pseudonyms, which can be pooled: always."""
        return True

    def _with_pools(self, case: Case, view: View, rows: Ints | None) -> View:
        """Return the view with a pool of pseudonyms as one more known record of whoever is asked for."""
        truth, table, known_as = view.case.truth, view.case.targets, view.known_as
        if truth is None or known_as is None:
            return view
        people = case.known_truth.target if rows is None else case.known_truth.target[rows]
        first = np.searchsorted(known_as, np.unique(people[people >= 0]))
        chain = next_pseudonyms(table, self._parted(case.targets, True)[2], first)
        long = (chain >= 0).sum(axis=1) > 1
        owner = np.concatenate((known_as, known_as[first[long]]))
        order = np.argsort(owner, kind="stable")  # a person's known records lie together
        place = np.argsort(order, kind="stable")
        targets = stacked(table, joined(table, chain[long])).take(order)
        named = Truth(np.where(truth.target >= 0, place[np.maximum(truth.target, 0)], -1), truth.origin)
        return replace(view, case=replace(view.case, targets=targets, truth=named), known_as=owner[order])

    def _changed(self, table: Any, learnt: Any, rng: np.random.Generator) -> Any:
        return self._parted(table, True)[0]

    def _parted(self, table: TokenRecords, changed: bool) -> tuple[TokenRecords, Ints, Ints]:
        """Return the pseudonyms as a table, the row each was part of, and which of its pseudonyms it is."""
        if not changed:
            return table, np.arange(len(table)), np.zeros(len(table), dtype=np.int64)
        if isinstance(table, Traces):
            return _parted_traces(table, self.every)
        return _parted_bags(table, self.every)


def _longest(table: TokenRecords) -> int:
    if isinstance(table, Traces):
        return table.n_epochs
    return 0 if table.visits is None else int(table.visits.per_record.max(initial=0))


def _parted_traces(table: Traces, every: int) -> tuple[Traces, Ints, Ints]:
    moment = np.arange(table.n_epochs) // every
    many = int(moment[-1]) + 1
    there = np.stack([table.observed[:, moment == one].any(axis=1) for one in range(many)], axis=1)
    there[~there.any(axis=1), 0] = True  # whoever was never observed still has a record
    row, part = np.nonzero(there)
    tokens = np.where(moment[None, :] == part[:, None], table.tokens[row], table.tokens.dtype.type(-1))
    return Traces(tokens, table.n_tokens, None, table.vocabulary).with_notes(table.notes), row, part


def _parted_bags(table: Bags, every: int) -> tuple[Bags, Ints, Ints]:
    from scipy import sparse

    visits = table.visits
    if visits is None:
        raise DataError("these Bags do not know their visits")
    owner = visits.owner
    part = (np.arange(len(visits)) - visits.start[owner]) // every
    new = np.flatnonzero((np.diff(owner, prepend=-1) != 0) | (np.diff(part, prepend=-1) != 0))
    row, which = owner[new], part[new]
    empty = np.flatnonzero(visits.per_record == 0)
    start = np.append(new, len(visits))
    ones = np.ones(len(visits), dtype=np.int64)
    counts = sparse.csr_array((ones, np.arange(len(visits)), start), shape=(len(new), len(visits))) @ visits.counts
    if len(empty):
        counts = sparse.vstack([counts, sparse.csr_array((len(empty), table.n_tokens), dtype=counts.dtype)]).tocsr()
        row, which = np.concatenate((row, empty)), np.concatenate((which, np.zeros(len(empty), dtype=np.int64)))
        order = np.argsort(row, kind="stable")
        counts, row, which = counts[order], row[order], which[order]
    parted = Bags(counts, None, table.vocabulary).with_notes(table.notes)
    when = table.timeline
    if when is None or when.visit is None:
        return parted, row, which
    many = int(which.max(initial=0)) + 1
    place = np.searchsorted(row * many + which, when.owner * many + when.visit // every)
    parted = parted.with_timeline(when.regrouped(place, len(row)))
    if table.clock is not None:
        parted = parted.with_clock(days_by_hour(place.astype(np.int32), when.item, when.time, parted.counts.shape))
    raw = table.raw
    if raw is not None and len(raw.row) == len(when):
        start = np.concatenate(([0], np.cumsum(np.bincount(place, minlength=len(row)))))
        parted = parted.with_raw(RawTable(raw.columns, raw.row[np.lexsort((when.item, when.time, place))], start))
    return parted, row, which


def _same_moment(rows: Ints, moment: Ints, known_as: Ints, when: Ints) -> Ints:
    """Return the target row of each query's person at its moment, or their first; -1 where they have none."""
    first = np.searchsorted(known_as, np.maximum(rows, 0))
    last = np.searchsorted(known_as, np.maximum(rows, 0), side="right") - 1
    width = int(max(when.max(initial=0), moment.max(initial=0))) + 1
    place = np.searchsorted(known_as * width + when, np.maximum(rows, 0) * width + moment)
    good = (place <= last) & (when[np.minimum(place, len(when) - 1)] == moment)
    return np.where(rows < 0, -1, np.where(good, place, first))
