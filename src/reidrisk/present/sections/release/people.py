"""Synthetic people beside the real ones: who is found again, how varied they are, and how alike the periods are."""

from functools import partial

from reidrisk.present.model import Figure, Section, Table
from reidrisk.present.sections.release import charts
from reidrisk.present.sections.release.errors import error_table
from reidrisk.present.terms import Terms
from reidrisk.present.words import reading
from reidrisk.present.words.frequencies import attack_label
from reidrisk.present.words.release import kinds
from reidrisk.release import InternalValidation


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
