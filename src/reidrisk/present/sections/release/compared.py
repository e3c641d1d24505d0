"""How far off model and sample are, by kind of statistic; and synthetic people beside the real ones."""

from collections.abc import Iterable
from functools import partial

from reidrisk.present.model import Figure, Section, Table
from reidrisk.present.sections.release import charts
from reidrisk.present.terms import Terms
from reidrisk.present.words import reading
from reidrisk.present.words.frequencies import attack_label
from reidrisk.present.words.release import kinds, share
from reidrisk.release import InternalValidation, Validation
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
    return Section(
        "Who can be found again",
        see=tuple(reading(rate, terms) for rate in result.rates),
        figure=Figure(
            partial(charts.rates, result.rates, terms),
            f"Share of real and of synthetic {terms.people} that each attack finds, one standard deviation either way.",
        ),
        table=Table(columns, rows, (2, 3, 4, 5, 6), "Rates of right links"),
        caution=f"They agree where the means are within one standard deviation of the trials on real {terms.people}.",
        console=True,
        name="rates",
    )


def distinct(result: InternalValidation, terms: Terms) -> Section:
    """Return how many distinct items people have."""
    found = result.distinct
    return Section(
        f"Distinct {terms.items} per {terms.person}",
        see=f"How many distinct {terms.items} {terms.people} have over {terms.many('period', result.n_epochs)}, which "
        f"the model was not fitted to. Correlation {found.correlation:.3f} ({found.low:.3f} to {found.high:.3f}); the "
        f"two disagree on {100 * found.distance:.1f} % of {terms.people}.",
        figure=Figure(
            partial(charts.distinct, found, terms),
            f"Share of real and synthetic {terms.people} by their number of distinct {terms.items}.",
        ),
        caution=f"The model knows pairs in neighbouring {terms.periods} only; how long an interest lasts follows from "
        "them, not from the data.",
        name="distinct",
    )


def errors(result: InternalValidation, terms: Terms) -> Section:
    """Return how far released statistics and model are from the exact ones."""
    return Section(
        "Against the exact statistics",
        see="How far the released statistics and the model are from what was counted without noise.",
        table=error_table(result.summaries, terms),
        name="exact",
    )


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
    return Section(
        f"One {terms.period} and another",
        see=f"The model takes every {terms.period} to be alike. This is the correlation between the statistics of any "
        f"two {terms.periods}; 1 means alike.",
        table=Table(("statistics", terms.periods, "real", "synthetic"), tuple(rows), (2, 3)),
        name="alike",
    )
