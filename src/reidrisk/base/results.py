"""Risk, Bound and the other frozen results: value, interval, baseline, and what it rests on as notes."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Self, get_args

import numpy as np
import numpy.typing as npt

from reidrisk.base.errors import DataError
from reidrisk.base.notes import Note
from reidrisk.base.options import is_number, is_whole
from reidrisk.base.plain import MEMORY, fields_of, plain, written

Covers = Literal["people", "queries", "none"]
"""What an interval allows for: other people in both tables; other queries, with the targets fixed; or no promise."""

_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Result:
    """Common ground of all results: they print, compare and round-trip to JSON."""

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain values that ``json`` can write; infinities become the string ``"inf"``."""
        return {name: plain(getattr(self, name)) for name in written(self)}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Rebuild a result from :meth:`to_dict`, results within it as well; fields of a later version are left out."""
        return cls(**fields_of(cls, values, cls.__name__))

    def to_json(self) -> str:
        """Return :meth:`to_dict` as JSON."""
        return json.dumps(self.to_dict(), allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Rebuild a result from :meth:`to_json`."""
        return cls.from_dict(json.loads(text))

    def _repr_html_(self) -> str | None:
        """Return what a notebook shows: of a result with a page its verdict and first figure, offline; else text."""
        from reidrisk.present.notebook import shown

        return shown(self)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash(self.to_json())


class Spoken(Result):
    """A result that can be said: in one sentence, and what it rests on in one each."""

    @property
    def reading(self) -> str:
        """One sentence for someone who is no statistician."""
        from reidrisk.present.words import reading

        return reading(self)

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the number rests on, a sentence for each of its ``notes``."""
        from reidrisk.present.words import sentence

        return tuple(sentence(note) for note in getattr(self, "notes", ()))


def _check_covers(result: Any) -> None:
    """Refuse what no interval can allow for: a field of a result is data, which nobody chose, and not an option."""
    if result.covers not in (known := get_args(Covers)):
        what = type(result).__name__.lower()
        raise DataError(f"covers of a {what} must be one of {', '.join(known)}, not {result.covers!r}")


@dataclass(frozen=True, eq=False)
class Risk(Spoken):
    """The measured probability that a link is right: ``rate``, with its interval at ``level``.

    Shares of queries: ``rate`` linked to the right target (ties count 1/t), ``incorrect`` linked wrongly, ``abstained``
    left without an answer; the three add up to 1. ``baseline`` is what blind guessing gets, ``n_queries`` the number of
    queries that were scored, ``n_epochs`` 0 for bags, ``notes`` what the number rests on.

    A result that was saved without ``covers`` promises ``"queries"``, in the matching setting ``"none"``.

    >>> risk = Risk(rate=0.25, low=0.1, high=0.4, incorrect=0.75, abstained=0.0, baseline=0.01,
    ...             n_targets=100, n_queries=40, attack="Hamming")
    >>> Risk.from_json(risk.to_json()) == risk
    True
    """

    rate: float
    low: float
    high: float
    incorrect: float
    abstained: float
    baseline: float
    n_targets: int
    n_queries: int
    attack: str = ""
    setting: str = "random user"
    n_epochs: int = 0
    level: float = 0.95
    mean_ties: float = 1.0
    everyone: bool = False
    seed: int | None = None
    notes: tuple[Note, ...] = ()
    per_user: npt.NDArray[np.float64] | None = field(default=None, repr=False, metadata=MEMORY)
    """(n_queries,) Probability of a right link for each scored query; stays out of JSON unless asked for."""
    covers: Covers = "queries"
    design_effect: float = 1.0
    """How many times the variance of the rate is that of independent credits; the interval allows for it."""
    queries_per_person: float = 1.0
    """Of the person behind a query, on average; above 1 where several belong to one person, who then counts once."""
    which: tuple[int, ...] = ()
    """The epochs looked at, columns counted from 0, where they are not the first ``n_epochs``."""
    rates_without: npt.NDArray[np.float64] | None = field(default=None, repr=False, metadata=MEMORY)
    """(n_people,) The rate without each person, for ``covers="people"``; stays out of JSON."""

    def __post_init__(self) -> None:
        for name in ("rate", "low", "high", "incorrect", "abstained", "baseline", "level"):
            value = getattr(self, name)
            if not isinstance(value, int | float | np.number) or not 0.0 <= value <= 1.0:
                raise DataError(f"{name} of a risk must be a number in [0, 1], not {value!r}")
        if not self.low <= self.rate + _ROUNDING or not self.rate <= self.high + _ROUNDING:
            raise DataError(f"the rate {self.rate} of a risk must lie in its interval, {self.low} to {self.high}")
        for name in ("n_targets", "n_queries", "n_epochs"):
            if not is_whole(getattr(self, name)) or getattr(self, name) < 0:
                raise DataError(f"{name} of a risk must be a whole number, not {getattr(self, name)!r}")
        for name in ("design_effect", "queries_per_person"):
            value = getattr(self, name)
            if not is_number(value) or not 1.0 <= value < math.inf:
                raise DataError(f"{name} of a risk must be a finite number of at least 1, not {value!r}")
        _check_covers(self)

    def to_dict(self, per_user: bool = False) -> dict[str, Any]:
        """Return plain values; ``per_user`` only when asked for, because it tells about single people."""
        values = super().to_dict()
        return values | {"per_user": plain(self.per_user)} if per_user else values

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Rebuild a risk; ``per_user`` comes back as an array where it was written."""
        unsaid = {} if values.get("setting") != "matching" else {"covers": "none"}
        risk = super().from_dict({**unsaid, **values})
        if values.get("per_user") is not None:
            object.__setattr__(risk, "per_user", np.asarray(values["per_user"], dtype=np.float64))
        return risk


@dataclass(frozen=True, eq=False)
class Difference(Spoken):
    """A paired difference of two attacks on the same queries: rate of ``attack`` minus rate of ``other``."""

    attack: str
    other: str
    n_epochs: int
    difference: float
    low: float
    high: float
    level: float
    n_queries: int
    covers: Covers = "queries"

    def __post_init__(self) -> None:
        _check_covers(self)


@dataclass(frozen=True, eq=False)
class Bound(Spoken):
    """What no attacker of a setting can beat, or what the best one reaches.

    ``name`` says what it follows from (``"optimal attacker"``), ``reference`` where it is proven (``"carey, Corollary
    1"``), ``inputs`` the measured quantities. A ``value`` above 1 says nothing; ``low`` and ``high`` are its interval
    where it was estimated or certified. ``baseline`` is what blind guessing gets.
    """

    name: str
    setting: str  # "random user" or "matching"
    value: float
    baseline: float
    reference: str
    low: float = math.nan
    high: float = math.nan
    inputs: Mapping[str, float] = field(default_factory=dict)
    n_epochs: int | None = None
    within_model: bool = False
    """Whether it holds only as far as a model of the users does: an attacker who knows better may exceed it."""
    notes: tuple[Note, ...] = ()

    def __post_init__(self) -> None:
        _fill_ends(self)

    @property
    def says_something(self) -> bool:
        """Whether it excludes anything: no rate exceeds 1 anyway."""
        return self.value < 1.0


@dataclass(frozen=True, eq=False)
class Measurement(Spoken):
    """A property of a system that is no rate: its epsilon, its k, its leakage in bits.

    ``unit`` is ``""`` for plain numbers; ``low`` and ``high`` bracket ``value`` where it is not exact, and
    ``inputs`` are the numbers beside it that it cannot be read without.
    """

    name: str
    value: float
    unit: str
    reference: str
    low: float = math.nan
    high: float = math.nan
    inputs: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _fill_ends(self)


def _fill_ends(found: Bound | Measurement) -> None:
    for end in ("low", "high"):
        if math.isnan(getattr(found, end)):
            object.__setattr__(found, end, found.value)
