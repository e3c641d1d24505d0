"""AuditSpec: everything that defines an audit, as options, file and JSON in one."""

from collections.abc import Iterable
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, ValidationInfo, field_validator

import reidrisk.topics  # noqa: F401 (the Topics API is a system to choose by name)
from reidrisk import scenarios
from reidrisk.attacks.registry import nameable
from reidrisk.audit.questions import Asked
from reidrisk.base import Note, OptionError, printable
from reidrisk.base.options import share
from reidrisk.base.specs import OneOf, Spec
from reidrisk.base.specs import named as field
from reidrisk.io.exports import Reading
from reidrisk.mechanisms import TopKNoise, entry, registry
from reidrisk.mitigations.registry import named


def powers_of_two(most: int, below: int) -> tuple[int, ...]:
    """Return 1, 2, 4, … up to ``most`` that are less than ``below``.

    >>> powers_of_two(9, 100), powers_of_two(8, 8)
    ((1, 2, 4, 8), (1, 2, 4))
    """
    return tuple(1 << i for i in range(most.bit_length()) if 1 << i <= most and 1 << i < below)


def usual_epochs(n_epochs: int) -> tuple[int, ...]:
    """Return the numbers of epochs an audit looks at by default: 1, 2, 4, … and all.

    >>> usual_epochs(6)
    (1, 2, 4, 6)
    """
    return (*powers_of_two(n_epochs, n_epochs), n_epochs)


def other_counts(asked: Iterable[int], n_epochs: int) -> tuple[int, ...]:
    """Return the numbers of epochs of which one may be tried beside the usual ones; none where others were asked for.

    >>> other_counts((1, 2, 4, 6), 6), other_counts((1, 2), 6)
    ((3, 5), ())
    """
    usual = usual_epochs(n_epochs)
    return tuple(r for r in range(1, n_epochs) if r not in usual) if tuple(asked) == usual else ()


def _as_text(path: str) -> str:
    """Refuse a name that is no text: the result would be written, and not read again."""
    if any("\ud800" <= letter <= "\udfff" for letter in path):
        raise OptionError(f"{printable(path)}: the name is not UTF-8 text, which no result can hold; rename the file")
    return path


FileName = Annotated[str, AfterValidator(_as_text)]


class Tables(Spec):
    """Two files of records: ``targets`` are known, ``queries`` are to be identified."""

    kind: Literal["tables"] = "tables"
    targets: FileName
    queries: FileName
    truth: FileName | None = None
    layout: Literal["wide", "long"] | None = None
    n_tokens: int | None = Field(default=None, ge=1)
    vocabulary: FileName | None = None


class Exports(Spec):
    """One or two exports as they are: the first is known, the second is to be identified; read as ``reading`` says.

    ``truth`` is a file of true pairs of two exports, with the names of its two columns or without
    (``pairs.csv:crm_id=partner_id``).
    """

    kind: Literal["exports"] = "exports"
    files: tuple[FileName, ...] = Field(min_length=1, max_length=2)
    truth: FileName | None = None
    reading: Reading = Reading()


class InMemory(Spec):
    """Tables that were handed over in memory; such an audit cannot be run again from its spec alone."""

    kind: Literal["memory"] = "memory"


class Published(Spec):
    """The embedded population seen by two sites."""

    kind: Literal["published"] = "published"
    users: int = Field(default=100_000, ge=2)
    epochs: int = Field(default=8, ge=1)


class AuditSpec(Spec):
    """Everything that defines an audit; saved with its seed, it is an experiment anyone can run again.

    ``system`` says what the tokens are: ``"topics"`` sets the published parameters of the Topics API where
    ``top_k`` and ``noise`` are not given; ``"other"`` assumes no noise and that two observers of one person see
    the same token every second time (``top_k`` 2), and says so among the assumptions. Without ``attacks``, every
    default attack that applies runs (see :func:`reidrisk.attacks.registry`) within ``budget`` reference seconds, which
    are the same on every machine: records to identify are sampled where all of them take longer. A result records which
    attacks ran, on how many records, and which could not.

    ``what_if`` tries changes that may lower the risk, the usual ones or ``changes`` such as ``"rotate:4"``, and says
    what gives people away, within ``what_if_budget`` further reference seconds; ``"fits"``: only what can be done in
    that time (the page's default on the command line). ``aim`` searches for a change that leaves at most that share of
    the people to be found, and ``population`` forecasts the rate among that many. ``taxonomy`` is a file that says the
    parent of each item: what gives people away is then told by its roots, and merging items into parents is tried.

    Two tables that have nobody in common, by ids or true pairs, are refused, since no rate can be measured;
    ``allow_unmatched`` says how sure attacks are instead. Of two tables of traces, which are made to be compared,
    people who are in one only are refused without it, too.

    ``scenario`` says who attacks, with what; default: everything that the exports can answer. One log is asked in steps
    how much of each event somebody knows; limit and changes are about what they are ``told``: ``"what"`` it is, the
    ``"day"`` as well, which is the default where there is a time, or the whole ``"row"``. ``level`` lies in
    [0.8, 0.9999]: below, an interval says next to nothing.

    >>> spec = AuditSpec(inputs=Published(users=1000), system="topics", seed=1)
    >>> AuditSpec.model_validate_json(spec.model_dump_json()) == spec
    True
    """

    inputs: Annotated[Tables | Exports | Published | InMemory, Field(discriminator="kind")] = InMemory()
    allow_unmatched: bool = False
    scenario: Asked | None = None
    told: Literal["what", "day", "row"] | None = None
    system: Annotated[str, OneOf(lambda: (one.name for one in registry()))] = "other"
    top_k: int | None = Field(default=None, ge=1)
    noise: float | None = Field(default=None, ge=0.0, lt=1.0)
    attacks: tuple[str, ...] | None = None
    epochs: tuple[int, ...] | None = None
    sample: int | None = Field(default=None, ge=1)
    everyone: bool = False
    seed: int | None = Field(default=None, ge=0)
    budget: float = Field(default=60.0, gt=0.0, le=1e6)
    level: float = Field(default=0.95, ge=0.8, le=0.9999)
    max_risk: float | None = Field(default=None, ge=0.0, le=1.0)
    min_group: int = Field(default=20, ge=1)
    what_if: bool | Literal["fits"] | None = None
    changes: tuple[str, ...] | None = None
    what_if_budget: float = Field(default=20.0, gt=0.0, le=1e6)
    aim: float | None = Field(default=None, gt=0.0, lt=1.0)
    population: int | None = Field(default=None, ge=2)
    taxonomy: str | None = None

    @field_validator("changes")
    @classmethod
    def _named(cls, texts: tuple[str, ...] | None) -> tuple[str, ...] | None:
        for text in texts or ():
            named(text)
        return texts

    @field_validator("max_risk", "aim", mode="before")
    @classmethod
    def _share(cls, value: Any, info: ValidationInfo) -> Any:
        return value if value is None else share(field(str(info.field_name)), value)

    @field_validator("scenario", mode="before")
    @classmethod
    def _by_name(cls, value: Any) -> Any:
        if isinstance(value, type):
            value = next((one.name for one in scenarios.registry() if one.scenario is value), value)
        return Asked(name=value) if isinstance(value, str) else value

    @field_validator("attacks", mode="before")
    @classmethod
    def _registered(cls, values: Any) -> Any:
        known = [one.name for one in nameable()]
        if isinstance(values, str | type):
            values = (values,)
        if isinstance(values, tuple | list):
            names = {one.attack: one.name for one in nameable()}
            values = tuple(names.get(value, value) if isinstance(value, type) else value for value in values)
        for value in values if isinstance(values, tuple | list) else ():
            if not isinstance(value, str):
                what = f"a spec names attacks, and {type(value).__name__} is an object"
                instead = "hand it over with assess(..., attacks=[...]) or audit_case(..., attacks=[...])"
                raise OptionError(f"{field('attacks')}: {what}; {instead}")
            if value not in known:
                unknown = f"{field('attacks')}: there is no attack {value!r} to be chosen by name"
                raise OptionError(f"{unknown}; choose from {', '.join(known)}")
        return values

    def mechanism(self, n_tokens: int) -> TopKNoise:
        """Return what is declared of the system, with its defaults filled in."""
        return entry(self.system).mechanism.known(n_tokens, self.top_k, self.noise)

    def of_system(self, n_tokens: int) -> Note:
        """Return what numbers rest on by what is declared of the system."""
        return entry(self.system).mechanism.note(self.mechanism(n_tokens))
