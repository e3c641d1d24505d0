"""What every attack does: learn from the targets, then link queries to them; it never sees the truth."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Literal, Self, TypeVar

import numpy as np

from reidrisk.attacks.pooled import gathered
from reidrisk.base import ArrayLike, DataError, Floats, Ints, Note, OptionError, Signed, slices
from reidrisk.mechanisms import TopKNoise
from reidrisk.search.engines import Engine

_SCORES = 2_000_000  # scores held at once where every target of a group is weighed
Records = TypeVar("Records")  # what an attack compares, such as Traces or Bags


@dataclass(frozen=True, eq=False)
class Links:
    """The attacker's answers: for each query a row of the targets, the lowest where several tie; -1 = no answer.

    ``score`` is on the attack's integer grid; ``n_ties`` targets share the best one, and the attacker picks one of them
    at random. ``probability`` is how sure the attack's own model is of one of these targets, where it has such a model.
    """

    target: Ints
    score: Ints
    n_ties: Ints
    probability: Floats | None = None

    def __len__(self) -> int:
        return len(self.target)


class Attack(ABC, Generic[Records]):
    """The common interface, with the habits of scikit-learn: parameters in ``__init__``, ``fit`` returns self."""

    @property
    def name(self) -> str:
        """Short name for tables and charts."""
        return type(self).__name__

    @property
    @abstractmethod
    def description(self) -> str:
        """What the attacker does and assumes, in two sentences, with the reference."""

    one_scale: ClassVar[bool] = True
    """Whether scores of different queries, and of different fits, can be compared; not so of a query's likelihood."""

    reads_cells: ClassVar[bool] = False
    """Whether it goes by the file and not by the records made of it: records that hold the same may differ."""

    by_size: ClassVar[bool] = False
    """Whether it is made for records whose sizes tell: an audit does not run it on parts that were cut to size."""

    by_order: ClassVar[tuple[str, ...]] = ()
    """Of an attack by the order of people alone: the origins of the truth that do not bring that order about."""

    of_parts: ClassVar[Literal["no", "also", "only"]] = "no"
    """Whether it is for queries that are known to be true parts of their targets, drawn at random (``Case.of_parts``).

    There :class:`Hypergeometric` is the best there is, so that an audit runs only it and the simple attacks.
    """

    @classmethod
    def applies(cls, targets: Records, queries: Records) -> bool:
        """Whether there is anything in these records to go by: an audit runs no default attack that ties everybody."""
        return True

    @classmethod
    def knowing(cls, mechanism: TopKNoise, seed: int = 0) -> Self:
        """Return the attacker who knows this of the system; one without use for it is made plainly."""
        return cls()

    @abstractmethod
    def fit(self, targets: Records) -> Self:
        """Learn from the targets: all that this attacker sees before the queries come."""

    def look_around(self, queries: Records) -> Self:
        """See everybody the second observer saw: for attacks that ask who is unique there; of no record, each is."""
        return self

    @property
    def compares_queries(self) -> bool:
        """Whether the answer for one query depends on the other queries; so it is taken to be of who looks around."""
        return type(self).look_around is not Attack.look_around

    @property
    def setting(self) -> str:
        """Carey's setting in which it links: each query by itself, or as ``"matching"`` all of them together."""
        return "random user"

    @property
    def rests_on(self) -> tuple[Note, ...]:
        """What its answers rest on beside the records, as far as it has found out."""
        return ()

    def one_by_one(self) -> Attack[Records]:
        """Return this attacker where each query is met by itself: of somebody who knows facts of one person."""
        return self

    def given_sizes(self) -> Self:
        """Return this attacker where how much records hold says nothing, since they were cut to size."""
        return self

    def narrowed(self, rows: Ints) -> Attack[Records]:
        """Return this attacker, with all it has learnt, looking at these target rows only; its row i is ``rows[i]``."""
        return Narrowed(self, rows)

    @abstractmethod
    def link(self, queries: Records, probability: bool = False, *, engine: Engine | None = None) -> Links:
        """Link every query to a target; ``probability=True`` also asks the attack how sure it is.

        ``engine`` is where targets are searched, default: here. The answer is the same.
        """

    @abstractmethod
    def score(self, queries: Records, target_index: Ints) -> Ints:
        """Return the score of each query with the given target row."""

    @abstractmethod
    def candidates(
        self, queries: Records, k: int, among: Ints | None = None, *, engine: Engine | None = None
    ) -> tuple[Ints, Ints]:
        """Return the k best targets of each query and their scores, best first, the lower row first among equals.

        With ``among`` only these target rows are looked at, and among equals the one comes first that does there.
        """

    def near_best(self, queries: Records, reach: Ints) -> Signed | None:
        """Return the score of every query with every target, (q, n); ``None`` where the best score is not the link.

        A score must be exact where it is at most ``reach`` (q,) below the query's best, or everywhere if that is
        negative; what is further below may be any lower number. This tells how links change when a target leaves, see
        :mod:`reidrisk.measure.jackknife`; without it, intervals hold for these targets only.
        """
        return None

    def _refuse_unfitted(self, learnt: str) -> None:
        """Refuse to answer before ``fit``, which is what sets the attribute ``learnt``."""
        if not hasattr(self, learnt):
            raise OptionError(f"{self.name} has not seen any targets yet; call fit(targets) first")

    def _rows(self, target_index: Ints, n_queries: int, n_targets: float) -> Ints:
        """Check that there is one existing target row for each query."""
        rows = np.asarray(target_index)
        if rows.shape != (n_queries,) or rows.dtype.kind not in "iu":
            raise OptionError(f"give one target row for each of the {n_queries} queries, not shape {rows.shape}")
        if rows.size and (rows.min() < 0 or rows.max() >= n_targets):
            raise OptionError(f"target rows lie in [0, {n_targets}); there is one outside")
        return rows.astype(np.int64)

    def _chosen(self, rows: ArrayLike, n_targets: float) -> Ints:
        """Check the target rows to which an attack is narrowed: at least one, and each an existing one."""
        found = np.asarray(rows)
        if found.ndim != 1 or not found.size or found.dtype.kind not in "iu":
            raise OptionError(f"give the rows of at least one target, whole numbers, not {found.dtype} {found.shape}")
        return self._rows(found, len(found), n_targets)


def check_comparable(targets: Any, queries: Any, epochs: tuple[int, int]) -> None:
    """Refuse tables over different vocabularies, or whose observers saw different numbers of epochs."""
    for what, a, b in (("epochs", *epochs), ("tokens in the vocabulary", targets.n_tokens, queries.n_tokens)):
        if a != b:
            raise DataError(f"targets have {a} {what}, queries have {b}; both must be the same")
    if targets.vocabulary and queries.vocabulary and targets.vocabulary != queries.vocabulary:
        raise DataError("targets and queries have different vocabularies; read both over one (io.read_pair)")


class Wrapping(Attack[Records]):
    """A fitted attack that faces other targets than those it was fitted to; it goes by the attack's own name."""

    attack: Attack[Records]

    @property
    def name(self) -> str:
        """Name of the attack."""
        return self.attack.name

    @property
    def description(self) -> str:
        """What the attacker does and assumes."""
        return self.attack.description


class Narrowed(Wrapping[Records]):
    """A fitted attack that looks at some of its targets; ``narrowed`` of any attack that knows no quicker way.

    It links to the best of them by score, as the attack's ``candidates`` give it, and always answers.
    """

    def __init__(self, attack: Attack[Records], rows: Ints) -> None:
        self.attack = attack
        self.rows = self._chosen(rows, np.inf)  # the attack itself knows how many there are

    def fit(self, targets: Records) -> Self:
        """Refuse: it was fitted before it was narrowed."""
        raise OptionError(f"{self.name} was narrowed after it was fitted; fit the attack and narrow it again")

    def link(self, queries: Records, probability: bool = False, *, engine: Engine | None = None) -> Links:
        """Link every query to the best of the rows, ties counted among them."""
        asked: Any = gathered(queries)
        target, score, n_ties = (np.zeros(len(asked), dtype=np.int64) for _ in range(3))
        for part in slices(len(asked), _SCORES // len(self.rows)):
            found, scores = self.candidates(asked.take(part), len(self.rows), engine=engine)
            target[part], score[part] = found[:, 0], scores[:, 0]
            n_ties[part] = (scores == scores[:, :1]).sum(axis=1)
        return Links(target=target, score=score, n_ties=n_ties)

    def score(self, queries: Records, target_index: Ints) -> Ints:
        """Return the score of each query with the given one of the rows."""
        asked: Any = gathered(queries)
        return self.attack.score(queries, self.rows[self._rows(target_index, len(asked), len(self.rows))])

    def candidates(
        self, queries: Records, k: int, among: Ints | None = None, *, engine: Engine | None = None
    ) -> tuple[Ints, Ints]:
        """Return the k best of the rows for each query and their scores, best first."""
        rows = self.rows if among is None else self.rows[self._chosen(among, len(self.rows))]
        where = {} if engine is None else {"engine": engine}  # attacks of others need not know of engines here
        found, scores = self.attack.candidates(queries, k, rows, **where)
        order = np.argsort(self.rows, kind="stable")
        return order[np.searchsorted(self.rows, found, sorter=order)], scores

    def near_best(self, queries: Records, reach: Ints) -> Signed | None:
        """Return the score of every query with every one of the rows, where the attack gives it."""
        # The best of the rows may be far below the best of all: every score must be exact.
        found = self.attack.near_best(queries, np.full(len(reach), -1, dtype=np.int64))
        return None if found is None else found[:, self.rows]
