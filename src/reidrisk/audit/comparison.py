"""Two audits compared: how much lower the risk of the second is, person by person where that was kept."""

from dataclasses import dataclass

from reidrisk.audit.per_person import PerPerson, paired
from reidrisk.audit.result import AuditResult
from reidrisk.base import DataError, OptionError, Risk, Spoken, of_class


@dataclass(frozen=True, eq=False)
class AuditDifference(Spoken):
    """The risk ``before`` minus the risk ``after``, each of the strongest row of an audit, with an interval.

    ``paired``: person by person, on the ``n_people`` who were scored in both. Otherwise the two are taken for
    independent, since a result holds nothing about single people, and on the same people the interval is wider than it
    need be. ``attacks`` are the names of the two strongest.
    """

    before: float
    after: float
    difference: float
    low: float
    high: float
    level: float
    attacks: tuple[str, str]
    paired: bool = False
    n_people: int | None = None


def compare(
    before: AuditResult, after: AuditResult, people: tuple[PerPerson, PerPerson] | None = None
) -> AuditDifference:
    """Return how much lower the strongest risk of the second audit is.

    With ``people``, what each audit found per person (:meth:`AuditResult.per_person`, or the files of
    ``--keep-per-person``), the difference is paired, and its interval that of a mean of differences
    (:func:`reidrisk.base.intervals.difference_interval`). Without, it has the interval of Zou and Donner (2008): from
    rates p, q with intervals (l, u) and (m, v), the difference p - q has the ends

        p - q - sqrt((p - l)^2 + (v - q)^2)  and  p - q + sqrt((u - p)^2 + (q - m)^2).

    Audits of different records, questions or numbers of people are refused: they are about other people.
    """
    for result in (before, after):
        of_class("each side of a comparison", result, AuditResult, "an AuditResult")
    one, two = _strongest(before, "first"), _strongest(after, "second")
    for what, a, b in (
        ("kinds of records", before.kind, after.kind),
        ("questions", _question(before), _question(after)),
        ("numbers of known records", f"{before.n_targets:,}", f"{after.n_targets:,}"),
        ("levels", f"{one.level:g}", f"{two.level:g}"),
    ):
        if a != b:
            raise OptionError(f"the audits have different {what}, {a} and {b}; compare audits of the same people")
    if people is not None:
        for which, risk, kept in (("first", one, people[0]), ("second", two, people[1])):
            if (kept.attack, kept.level) != (risk.attack, risk.level) or abs(kept.rate - risk.rate) > 1e-9:
                raise OptionError(f"what was kept per person is not of the {which} audit; give the file kept with it")
        same = paired(*people)
        rates = (same.before, same.after, same.before - same.after)
        return AuditDifference(*rates, same.low, same.high, one.level, (one.attack, two.attack), True, same.n_people)
    gap = one.rate - two.rate
    low = gap - ((one.rate - one.low) ** 2 + (two.high - two.rate) ** 2) ** 0.5
    high = gap + ((one.high - one.rate) ** 2 + (two.rate - two.low) ** 2) ** 0.5
    ends = (max(low, -1.0), min(high, 1.0))
    return AuditDifference(one.rate, two.rate, gap, *ends, one.level, (one.attack, two.attack))


def _strongest(result: AuditResult, which: str) -> Risk:
    if result.strongest is None:
        raise DataError(f"the {which} audit has no rate, since who is whom was not known; audit with true pairs")
    return result.strongest


def _question(result: AuditResult) -> str:
    return "two tables" if result.scenario is None else result.scenario.code.removeprefix("scenario-")
