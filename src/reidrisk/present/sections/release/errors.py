"""How far off model and sample are: by kind of statistic, in percentage points, in proportion, and which way."""

from collections.abc import Iterable
from functools import partial

from reidrisk.present.model import Figure, Section, Table
from reidrisk.present.sections.release import charts
from reidrisk.present.terms import Terms
from reidrisk.present.words.release import kinds, share
from reidrisk.release import Validation
from reidrisk.release.validate.errors import ErrorSummary
from reidrisk.release.validate.public import ALONE


def by_kind(result: Validation, terms: Terms) -> Section:
    """Return the errors of each kind of statistic."""
    rows = [s for s in result.public.summaries if s.kind == "all" or s.what != ALONE]
    return Section("Errors by kind of statistic", table=error_table(rows, terms), console=True, name="errors")


def error_table(summaries: Iterable[ErrorSummary], terms: Terms) -> Table:
    """Return errors, one row for each of the summaries."""
    columns = (
        "of",
        "statistics",
        "number",
        "off by 0.1 points at most",
        "at least 0.01 %",
        "of those, off by a fifth at most",
        "median error",
    )
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
    return Table(columns, rows, (2, 3, 4, 5, 6))


def absolute(result: Validation, terms: Terms) -> Section:
    """Return which share of the statistics is off by no more than each number of percentage points."""
    noise, names = result.public.noise, kinds(terms)
    moved = ", ".join(f"{100 * value:.2g} percentage points for {names[kind]}" for kind, value in noise.items())
    return Section(
        "How far off, in percentage points",
        see="Each line shows which share of the statistics is off by at most the error below it. Higher is better.",
        figure=Figure(
            partial(charts.absolute_errors, result.public),
            "Share of statistics by their largest error in percentage points.",
        ),
        caution=f"Before post-processing, the noise alone moved a statistic by about {moved}." if moved else "",
        name="absolute",
    )


def relative(result: Validation, _terms: Terms) -> Section:
    """Return the same in proportion, of statistics that are large enough."""
    return Section(
        "How far off, in proportion",
        see="The same for statistics of at least 0.01 %, as a share of the statistic itself.",
        figure=Figure(
            partial(charts.relative_errors, result.public),
            "Share of statistics of at least 0.01 % by their largest relative error.",
        ),
        caution="Rare pairs are the hardest: their statistics are small beside the noise.",
        name="relative",
    )


def density(result: Validation, _terms: Terms) -> Section:
    """Return whether the errors lean to one side."""
    return Section(
        "Too high or too low",
        see="How the errors of statistics of at least 0.01 % spread around 0. A line that leans to one side would show "
        "a model that exaggerates, or plays down.",
        figure=Figure(
            partial(charts.error_density, result.public),
            "How relative errors spread around 0, too low on the left, too high on the right.",
        ),
        caution="Errors of more than half the statistic are not drawn.",
        name="density",
    )
