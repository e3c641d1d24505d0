"""Two tables of one population: the attacker holds both, and wants to know who is whom."""

from dataclasses import dataclass
from typing import Any

from reidrisk.base import DataError, Note, OptionError, Vocabulary, checked_seed
from reidrisk.base.options import option
from reidrisk.records import Attributes, Bags, Case, Events, Traces, Vectors, find_truth
from reidrisk.records.calendar import Every
from reidrisk.records.case import check_tables, matched
from reidrisk.scenarios.base import Scenario, by_visit, several_each
from reidrisk.scenarios.registry import register

MOST_PERIODS = 520  # periods of two logs at most: more are hardly ones that people have in common


@register(kinds=(Events, Bags, Traces, Attributes, Vectors), tables=2)
@dataclass(frozen=True, eq=False)
class TwoTables(Scenario):
    """The attacker holds two tables: records of ``a`` are known, those of ``b`` are to be named.

    Both are Traces, both Bags, both Vectors, both Attributes, which are compared in the columns they have in common, or
    both Events, which become Bags over the items of either. ``truth`` is the row of ``a`` for each row of ``b``, -1 =
    not in it; default: equal user ids, or equal rows where neither table names its users and both have the same length.
    Where that tells nothing, the truth of the case is ``None``, and a note says why.

    Several rows of ``b`` may be one person's (``truth`` says whose), as sessions or trips are. With ``visit``, as for
    :meth:`reidrisk.records.Events.bags`, each visit of the log ``b`` is a query of its own. With ``every``, as for
    :meth:`reidrisk.records.Events.traces`, two logs become Traces over the same periods instead: the first item of each
    period. Traces of different numbers of epochs are of different times: they are compared as Bags. Vectors may be
    several of a person; all that a table has of them are one record.

    >>> a = Bags([[2, 1], [0, 3]], users=["ann", "bob"])
    >>> b = Bags([[0, 1], [1, 1], [4, 0]], users=["bob", "eve", "ann"])
    >>> case = TwoTables(a, b).case()
    >>> case.truth.target.tolist(), case.notes[0].code
    ([1, -1, 0], 'in-one-table-only')
    """

    a: Any
    b: Any
    truth: Any = None
    visit: Every | None = None
    every: Every | None = None

    def __post_init__(self) -> None:
        for table in (self.a, self.b):
            self._check_kind(table)
        if self.every is not None and not (isinstance(self.a, Events) and isinstance(self.b, Events)):
            raise OptionError(f"every={self.every!r} is for two tables of Events; these are {type(self.a).__name__}")
        if self.every is not None and self.visit is not None:
            raise OptionError("every= makes one item of a period, visit= a query of each; choose one of the two")
        if self.visit is not None and not isinstance(self.b, Events):
            raise OptionError(f"visit={self.visit!r} is for Events; the second table are {type(self.b).__name__}")

    @property
    def question(self) -> Note:
        """Whether people of one table are found in the other, and by which periods they are compared, if by any."""
        return Note("scenario-two-tables", **({} if self.every is None else {"every": str(self.every)}))

    def case(self, seed: int = 0) -> Case:
        """Return the two tables; nothing is drawn."""
        checked_seed(seed)
        case = self._case()
        return case if self.visit is None else by_visit(case)

    def _case(self) -> Case:
        a, b = (self.a, self.b) if self.every is None else traces_alike(self.a, self.b, self.every)
        targets, queries = _over_one(a, b, self.visit)
        check_tables(targets, queries)
        notes = tuple(dict.fromkeys((*targets.notes, *queries.notes)))
        if isinstance(self.a, Traces) and isinstance(targets, Bags):
            notes += (Note("periods-apart"),)
        if isinstance(targets, Vectors):
            notes += several_each(targets, queries)
        given = None if self.truth is None else find_truth(targets, queries, self.truth)
        if given is None and (targets.users is None) != (queries.users is None):
            find_truth(targets, queries)  # which refuses, and says what to do
        found = matched(targets, queries, given)
        return Case(targets, queries, found.truth, notes + found.notes)


def _over_one(a: Any, b: Any, visit: Every | None) -> tuple[Any, Any]:
    """Make bags of events, and of traces of different lengths; two tables come over the items that occur in either."""
    if isinstance(a, Attributes) and isinstance(b, Attributes):
        return Attributes.together(a, b)
    if isinstance(a, Traces) and isinstance(b, Traces) and a.n_epochs != b.n_epochs:
        return a.bags(), b.bags()
    known = a.bags() if isinstance(a, Events) else a
    asked = b.bags(visit) if isinstance(b, Events) else b
    if not isinstance(a, Events) or not isinstance(b, Events) or a.vocabulary == b.vocabulary:
        return known, asked
    both = _labels(a, b)
    return known.over(both), asked.over(both)


def traces_alike(a: Events, b: Events, every: Every) -> tuple[Traces, Traces]:
    """Return two logs as traces over the same items and periods: from the first of either to the last of either.

    >>> log = {"who": [1, 2], "what": ["tea", "rum"]}
    >>> one, two = (Events(log | {"day": days}, user="who", items="what", time="day") for days in ([0, 1], [8, 20]))
    >>> [traces.tokens.tolist() for traces in traces_alike(one, two, 7)]
    [[[1, -1, -1], [0, -1, -1]], [[-1, 1, -1], [-1, -1, 0]]]
    """
    if a.time is None or b.time is None:
        raise DataError(
            f"a log without times has no {every!r}; leave out {option('every')}, or name the times ({option('time')})"
        )
    if a.is_calendar != b.is_calendar:
        raise DataError(
            f"times are dates in one log and plain numbers in the other; name other columns with {option('time')}"
        )
    spans = [log.span(every) for log in (a, b)]
    span = min(first for first, _ in spans), max(last for _, last in spans)
    if span[1] - span[0] >= MOST_PERIODS:
        n = span[1] - span[0] + 1
        raise OptionError(f"there are {n:,} periods of {every!r} from the first event to the last; take longer ones")
    both = _labels(a, b)
    one, two = (log.over(both).traces(every, span=span) for log in (a, b))
    return one, two


def _labels(a: Events, b: Events) -> Vocabulary:
    return (
        a.vocabulary
        if a.vocabulary == b.vocabulary
        else Vocabulary(sorted({*a.vocabulary.labels, *b.vocabulary.labels}))
    )
