"""How far off model and sample are, by kind of statistic; and synthetic people beside the real ones."""

from collections.abc import Iterable
from functools import partial

from reidrisk.present import Section, Table, Terms
from reidrisk.present.sections.release import charts
from reidrisk.present.sections.written import text, written
from reidrisk.present.words import attack_label, reading
from reidrisk.present.words.release import kinds, share
from reidrisk.release import InternalValidation, Validation
from reidrisk.release.validate.deviations import ErrorSummary
from reidrisk.release.validate.public import ALONE


def by_kind(result: Validation, terms: Terms) -> Section:
    """Return the errors of each kind of statistic."""
    rows = [s for s in result.public.summaries if s.kind == "all" or s.what != ALONE]
    title: str = text("release.errors.title", terms)
    return Section(title, table=error_table(rows, terms), console=True, name="errors")


def error_table(summaries: Iterable[ErrorSummary], terms: Terms) -> Table:
    """Return errors, one row for each of the summaries."""
    rows = tuple(
        (
            s.what,
            kinds(terms)[s.kind],
            f"{s.n:,}",
            share(s.within_point),
            f"{s.n_large:,}",
            share(s.within_fifth),
            f"{100 * s.median_relative:.2g} %",
        )
        for s in summaries
    )
    return Table(text("release.errors.columns", terms), rows, (2, 3, 4, 5, 6))


def absolute(result: Validation, terms: Terms) -> Section:
    """Return which share of the statistics is off by no more than each number of percentage points."""
    noise, names = result.public.noise, kinds(terms)
    moved = ", ".join(f"{100 * value:.2g} percentage points for {names[kind]}" for kind, value in noise.items())
    caution = f"Before post-processing, the noise alone moved a statistic by about {moved}." if moved else ""
    return written("release.absolute", terms, draw=partial(charts.absolute_errors, result.public), caution=caution)


def relative(result: Validation, terms: Terms) -> Section:
    """Return the same in proportion, of statistics that are large enough."""
    return written("release.relative", terms, draw=partial(charts.relative_errors, result.public))


def density(result: Validation, terms: Terms) -> Section:
    """Return whether the errors lean to one side."""
    return written("release.density", terms, draw=partial(charts.error_density, result.public))


def found_again(result: InternalValidation, terms: Terms) -> Section | None:
    """Return the rate of each attack on real and on synthetic people."""
    if not result.rates:
        return None
    columns = ("attack", terms.people, "real", "± over trials", "synthetic", "± over trials", "blind guess", "agree")
    rows = tuple(
        (
            attack_label(rate.attack),
            f"{rate.n_queries:,} among {rate.n_targets:,}",
            f"{100 * rate.real:.3g} %",
            f"{100 * rate.real_deviation:.2g} %",
            f"{100 * rate.synthetic:.3g} %",
            f"{100 * rate.synthetic_deviation:.2g} %",
            f"{100 * rate.baseline:.2g} %",
            "yes" if rate.agrees else "no",
        )
        for rate in result.rates
    )
    table = Table(columns, rows, (2, 3, 4, 5, 6), "Rates of right links")
    said = tuple(reading(rate, terms) for rate in result.rates)
    draw = partial(charts.rates, result.rates, terms)
    return written("release.rates", terms, draw=draw, see=said, table=table, console=True)


def distinct(result: InternalValidation, terms: Terms) -> Section:
    """Return how many distinct items people have."""
    found = result.distinct
    values = {"found": found, "off": 100 * found.distance, "epochs": result.n_epochs}
    return written("release.distinct", terms, values, draw=partial(charts.distinct, found, terms))


def errors(result: InternalValidation, terms: Terms) -> Section:
    """Return how far released statistics and model are from the exact ones."""
    return written("release.exact", terms, table=error_table(result.summaries, terms))


def alike(result: InternalValidation, terms: Terms) -> Section:
    """Return the correlation between the statistics of any two periods, real and synthetic."""
    both = result.real_stationarity, result.synthetic_stationarity
    rows = []
    for kind, name in kinds(terms).items():
        count = len(both[0].get(kind, ()))
        names = [f"{i + 1} to {i + 2}" if kind == "across" else f"{terms.period} {i + 1}" for i in range(count)]
        rows += [
            (name, f"{names[i]} and {names[j]}", *(f"{matrix[kind][i][j]:.3f}" for matrix in both))
            for i in range(count)
            for j in range(i + 1, count)
        ]
    table = Table(("statistics", terms.periods, "real", "synthetic"), tuple(rows), (2, 3))
    return written("release.alike", terms, table=table)
