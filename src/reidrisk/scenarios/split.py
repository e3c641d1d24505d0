"""One table split in two: by time, at random, or by a column. Each part is a view of the same people."""

from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np

from reidrisk.base import DataError, Note, OptionError, between_0_and_1, checked_seed, is_whole, one_of, stream
from reidrisk.base.arrays import Bools, Floats, Ints32
from reidrisk.records import Attributes, Bags, Case, Events, Traces, Vectors
from reidrisk.records.calendar import Every, moment
from reidrisk.scenarios.base import Scenario, by_visit, two_parts, two_sides
from reidrisk.scenarios.registry import register

By = Literal["time", "random", "column"]  # what decides on which side an event goes
_Mask = Bools


@register(kinds=(Events, Bags, Traces, Vectors))
@dataclass(frozen=True, eq=False)
class Split(Scenario):
    """The attacker holds one part of each person's record and wants to name the other part.

    ``by="time"``: the later ``share`` of each person's events is to be named, the earlier part is known; events of one
    moment stay together. With ``at`` (a number, or a date where times are dates) the parts are before it, and from it
    on; a pair of them leaves out what lies between, so that the two periods need neither touch nor be equally long.
    Traces: the last epochs and those before, or before and from epoch ``at`` on, counted from 0.

    ``by="random"``: each event (Bags: each unit of a count; Traces: each cell) is to be named with probability
    ``share``, and known otherwise. ``apart`` sends all events of an item to one side, person by person, so that a
    person's two parts have no item in common. ``independent`` lets each side see each event with probability ``share``,
    whatever the other sees: two observers of the same life, who may both have seen it.

    ``by="column"``: the first of the two values of ``column``, in their order, is the known side, the second is to be
    named. Events must have been made with ``keep=[column]``; those without a value are on neither side.

    That two records have the same moments counts only where a column decides: of a log that was cut by time or at
    random, the cut decides. Two logs of the same time are two tables (:class:`reidrisk.scenarios.TwoTables`).

    Both parts are Bags, also those of Traces: the two sides are of different periods, and attacks that compare period
    by period would take agreement there, or which periods are missing, for evidence that it is not. Bags have neither
    time nor columns. People with nothing to be named stay as distractors, those with nothing known are left out.
    With ``visit``, as for :meth:`reidrisk.records.Events.bags`, each visit to be named is a query of its own.

    Vectors must have several of a person (:meth:`reidrisk.records.Vectors.of_several`), and stay vectors: the later
    ``share`` of a person's, or as many drawn at random, are to be named together, one of them at least, and one at
    least is known.

    >>> log = Events({"who": [1, 1, 1, 2], "what": ["a", "b", "a", "b"], "t": [1, 2, 3, 9]}, user="who", items="what",
    ...              time="t")
    >>> case = Split(log, by="time", share=0.3).case()
    >>> case.targets.counts.toarray().tolist(), case.queries.counts.toarray().tolist()
    ([[1, 1], [0, 1]], [[1, 0]])
    >>> case.truth.target.tolist(), case.notes[-1].code
    ([0], 'nothing-on-one-side')
    """

    table: Any
    by: By = "time"
    share: float = 0.5
    at: Any = None
    column: str | None = None
    apart: bool = False
    independent: bool = False
    visit: Every | None = None

    def __post_init__(self) -> None:
        self._check_kind(self.table)
        if isinstance(self.table, Attributes):
            raise OptionError("two parts of a row of Attributes have no column in common; use Knows(columns=) instead")
        one_of("by", self.by, get_args(By))
        between_0_and_1("share", self.share)
        if isinstance(self.table, Vectors):
            self._check_vectors(self.table)
        kind = type(self.table).__name__
        if self.by == "column" and not isinstance(self.table, Events):
            raise OptionError(f"{kind} have no columns to split by; split Events by one of theirs, or {kind} at random")
        if self.by == "time" and (isinstance(self.table, Bags) or getattr(self.table, "time", 0) is None):
            raise OptionError(f"these {kind} have no time; split them at random, or make Events with time=")
        if self.by != "random" and (self.apart or self.independent):
            raise OptionError(f"apart and independent are for by='random', not for by={self.by!r}")
        if self.apart and self.independent:
            raise OptionError("independent observers may both see an item, so its events are not apart; choose one")
        if self.at is not None and self.by != "time":
            raise OptionError(f"at={self.at!r} is a moment, for by='time'; give a share instead")
        if self.column is not None and self.by != "column":
            raise OptionError(f"column={self.column!r} is for by='column', not for by={self.by!r}")
        if self.visit is not None and (self.by == "random" or not isinstance(self.table, Events)):
            raise OptionError(f"visit={self.visit!r} is for Events split by time or by a column, not for these {kind}")

    def _check_vectors(self, table: Vectors) -> None:
        """Refuse vectors of which nobody has two, and what is asked of events alone."""
        if table.several is None or (table.several.per_record < 2).all():
            say = "give a second table, or all vectors of each person under the same id"
            raise DataError(f"none of the {len(table):,} people has two vectors, so there is nothing to split; {say}")
        if self.by == "time" and (table.several.time is None or self.at is not None):
            say = "split them at random" if table.several.time is None else "leave out at="
            raise OptionError(f"vectors are split by time where each has one, a share of each person's; {say}")
        if self.apart or self.independent:
            raise OptionError("a vector is on one side or the other; leave out apart and independent")

    @property
    def question(self) -> Note:
        """Whether one part of a record gives away the other."""
        column = {} if self.by != "column" else {"column": self.column or self.table.columns[0]}
        return Note("scenario-split", by=self.by, **column)

    def case(self, seed: int = 0) -> Case:
        """Return the two parts, as Bags, and who is whom."""
        checked_seed(seed)
        if isinstance(self.table, Vectors):
            return self._of_vectors(self.table, seed)
        split = {"time": self._by_time, "random": self._at_random, "column": self._by_column}[self.by]
        known, asked, note = split(seed)
        notes = (*self.table.notes, note)
        if isinstance(self.table, Traces):
            notes += (Note("periods-apart"),)
        # Two who saw the same life independently may well agree in how much there was to see.
        by_share = self.by == "time" and self.at is None and isinstance(self.table, Events)
        shared_out = by_share or (self.by == "random" and not self.independent)
        if self.by != "column":  # one log was cut: which moments are on both sides, and which never, the cut decides
            known, asked = known.with_timeline(None), asked.with_timeline(None)
        case = replace(two_sides(known, asked, notes), cut_to_size=shared_out)
        return case if self.visit is None else by_visit(case)

    def _of_vectors(self, table: Vectors, seed: int) -> Case:
        several = table.several
        assert several is not None
        owner = several.owner
        if self.by == "time":
            assert several.time is not None
            asked = _later(owner.astype(np.int32), several.time, self.share)
        else:
            rng, many = stream(seed, "split vectors"), several.per_record
            wanted = np.floor(self.share * many + rng.random(len(many))).astype(np.int64)
            wanted = np.where(many > 1, np.clip(wanted, 1, many - 1), 0)
            order = np.lexsort((rng.random(len(owner)), owner))  # each person's in random order
            asked = np.zeros(len(owner), dtype=bool)
            asked[order] = np.arange(len(owner)) - np.repeat(several.start[:-1], many) < wanted[owner]
        if not asked.any():
            raise DataError("all vectors of each person are of one moment, so none is later; split them at random")
        return two_parts(table, asked, (*table.notes, Note("split-vectors", by=self.by, share=self.share)))

    def _by_time(self, seed: int) -> tuple[Bags, Bags, Note]:
        if isinstance(self.table, Traces):
            return self._by_epochs()
        if self.at is not None:
            until, since = (moment(at, self.table.is_calendar) for at in _pair(self.at))
            if until > since:
                raise OptionError(
                    f"at={self.at!r} runs backwards; give the end of the known part, then the later start"
                )
            one, other = map(str, _pair(self.at))
            note = Note("split-at", at=one) if until == since else Note("split-between", until=one, since=other)
            return *self._parts(self.table.time >= since, self.table.time < until), note
        later = _later(self.table.user, self.table.time, self.share)
        return *self._parts(later, ~later), Note("split-by-time", share=self.share)

    def _by_epochs(self) -> tuple[Bags, Bags, Note]:
        r = self.table.n_epochs
        if r < 2:
            raise DataError("these traces have one epoch, which has no later part; split them at random")
        until = since = r - min(max(round(self.share * r), 1), r - 1)
        if self.at is not None:
            until, since = _pair(self.at)
            if not (is_whole(until) and is_whole(since) and 0 < until <= since < r):
                raise OptionError(f"at={self.at!r} is no epoch from 1 to {r - 1}, nor a pair of them in order")
        known, asked = (_epochs(self.table, part) for part in (slice(0, until), slice(since, r)))
        return known, asked, Note("split-by-epochs", known=int(until), asked=int(r - since))

    def _at_random(self, seed: int) -> tuple[Bags, Bags, Note]:
        note = Note("split-at-random", share=self.share, apart=self.apart, independent=self.independent)
        rng = stream(seed, "split at random")
        if isinstance(self.table, Events) and not self.apart:
            asked = rng.random(len(self.table)) < self.share
            known = rng.random(len(self.table)) < self.share if self.independent else ~asked
            # Events of one visit lie on both sides, as anybody who has both can see: what is left is no visit.
            one, two = (self.table.take(part).bags().with_visits(None) for part in (known, asked))
            return one, two, note
        bags = self.table if isinstance(self.table, Bags) else self.table.bags()
        held = bags.counts.data.astype(np.int64)
        if self.apart:
            thinned = np.where(rng.random(len(held)) < self.share, held, 0)
        else:
            thinned = rng.binomial(held, self.share)
        rest = rng.binomial(held, self.share) if self.independent else held - thinned
        return bags.with_counts(rest), bags.with_counts(thinned), note

    def _by_column(self, seed: int) -> tuple[Bags, Bags, Note]:
        columns = self.table.columns
        if self.column is None and len(columns) != 1:
            raise OptionError(f"the events keep {len(columns)} columns; say which decides the side with column=")
        name = columns[0] if self.column is None else self.column
        codes, values = self.table.kept(name)
        if len(values) != 2:
            shown = ", ".join(map(repr, values[:5])) + (", …" if len(values) > 5 else "")
            raise DataError(f"column {name!r} must have two values to split by, not {len(values)} ({shown})")
        known, asked = self._parts(codes == 1, codes == 0)
        return known, asked, Note("split-by-column", column=name, known=values[0], asked=values[1])

    def _parts(self, asked: _Mask, known: _Mask) -> tuple[Bags, Bags]:
        return self.table.take(known).bags(), self.table.take(asked).bags(self.visit)


def _pair(at: Any) -> tuple[Any, Any]:
    """Return where the known part ends and the other begins: one moment, or two."""
    if not isinstance(at, tuple | list):
        return at, at
    if len(at) != 2:
        raise OptionError(f"at={at!r} is one moment, or a pair: the end of the known part and the start of the other")
    return at[0], at[1]


def _epochs(traces: Traces, part: slice) -> Bags:
    return Traces(traces.tokens[:, part], traces.n_tokens, traces.users, traces.vocabulary).bags()


def _later(user: Ints32, time: Floats, share: float) -> _Mask:
    """Say which events are of the later share of their user; they come by user and time.

    The cut is between two moments, the one that comes closest to the share; who has events at one moment only has
    nothing later.
    """
    n = len(user)
    first = np.flatnonzero(np.diff(user, prepend=-1))
    count = np.diff(first, append=n)
    wished = first + np.clip(count - np.rint(share * count).astype(np.int64), 1, np.maximum(count - 1, 1))
    # Where a moment begins; a user ends where the next one begins.
    begins = np.concatenate(([True], (np.diff(user) != 0) | (np.diff(time) > 0), [True]))
    place = np.arange(n + 1)
    before = np.maximum.accumulate(np.where(begins, place, 0))[wished]
    after = np.minimum.accumulate(np.where(begins, place, n)[::-1])[::-1][wished]
    stop = first + count
    cut = np.where((wished - before <= after - wished) & (before > first), before, after)
    cut = np.where((cut >= stop) & (before > first), before, cut)
    return np.asarray(place[:-1] >= np.repeat(np.minimum(cut, stop), count))
