"""galozy, figure 11: ADS identifiability beside the probability of de-anonymisation, against noise."""

from __future__ import annotations

from functools import partial
from typing import Any

from reidrisk import bandits
from reidrisk.bandits import Shared
from reidrisk.base.progress import Progress
from reidrisk.present.words.frequencies import percent
from reidrisk_studies.galozy import charts
from reidrisk_studies.galozy.charts import DrawnResult, Series
from reidrisk_studies.galozy.people import HOMES, SPORTSPEOPLE, WEARERS, People, Size, casas, endomondo, fitbit
from reidrisk_studies.galozy.surfaces import COUNTS, LAPLACE, noisy_counts
from reidrisk_studies.galozy.two_sizes import two_sizes
from reidrisk_studies.results import Comparison, Row, StudyResult

__all__ = ["figure_11"]


@two_sizes(
    "fig11",
    title="ADS and de-anonymisation against noise",
    reference="galozy, Figure 11",
    users=SPORTSPEOPLE,
    seconds=(10.0, 100.0),
    data=("casas", "endomondo", "fitbit"),
)
def figure_11(size: Size, users: int, seed: int, progress: Progress) -> StudyResult:
    """Run figure 11: ADS identifiability and de-anonymisation of one's own record against noise."""
    rows: list[Row] = []
    compared, notes = [], []
    everyone = (casas(HOMES, seed), endomondo(users, seed), fitbit(WEARERS, seed))
    for done, people in enumerate(everyone):
        for noise in (LAPLACE, COUNTS):
            progress(f"{people.name}, {noise}", (done + 0.5 * (noise == COUNTS)) / 3)
            rows += _noise_rows(people, noise, size, seed)
        compared.append(_ads_compared(people, rows))
        notes.append(people.note)
    return DrawnResult(
        users=users,
        seed=seed,
        rows=tuple(rows),
        lines=(),
        x_title="variance",
        comparisons=tuple(compared),
        assumptions=(
            *notes,
            "One's own record with Laplace noise, on probabilities as the text says and on counts; the scoreboard with "
            "weights 1/H and alpha 0.001. Intervals are 95 %, for users attacked among these records; one draw of the "
            "noise.",
        ),
        draw=partial(_draw_11, rows, [people.name for people in everyone]),
    )


def _noise_rows(people: People, noise: str, size: Size, seed: int) -> list[Row]:
    records = people.behaviour.records
    cells = bandits.cell_weights(records)
    own = bandits.anonymise(records, "own", seed=seed)
    if noise == LAPLACE:
        amounts = sorted({*size.printed_amounts(people.end), *size.finer_amounts(*people.finer)})
    else:
        amounts = sorted({0.0, *size.amounts_on_counts()})

    def shared(amount: float) -> Shared:
        if noise == COUNTS:
            return noisy_counts(own, records, amount, cells)
        return bandits.anonymise(records, bandits.Laplace(amount), seed=seed)

    rows: list[Row] = []
    for amount in amounts:
        given = shared(amount)
        near = bandits.ads(records, given, cells)
        for n_aux in people.some_cells(size.cells):
            risk = bandits.deanonymisation(records, given, n_aux, seed=seed, weights=cells)
            rows.append(
                {
                    "data": people.name,
                    "noise": noise,
                    "amount": amount,
                    "cells": n_aux,
                    "rate": risk.rate,
                    "low": risk.low,
                    "high": risk.high,
                    "ads": near,
                    "baseline": risk.baseline,
                }
            )
    return rows


def _ads_compared(people: People, rows: list[Row]) -> Comparison:
    mine = [row for row in rows if row["data"] == people.name]
    most = [row for row in mine if row["cells"] == people.n_aux]
    quiet = max((row for row in most if float(row["ads"]) <= 0.1), key=lambda row: row["rate"], default=None)
    loud = min((row for row in mine if float(row["ads"]) >= 0.9), key=lambda row: row["rate"])
    safe = "nowhere below 0.1"
    if quiet is not None:
        safe = (
            f"ADS {float(quiet['ads']):.2f} where {percent(float(quiet['rate']))} "
            f"({percent(float(quiet['low']))} to {percent(float(quiet['high']))}) are found, {quiet['noise']} "
            f"{float(quiet['amount']):.2g}, {quiet['cells']} cells known"
        )
    follows = quiet is None or float(quiet["low"]) <= float(quiet["baseline"])
    return Comparison(
        f"{people.name}: ADS against de-anonymisation",
        "ADS tends to 0 while people are still found, and to 1 while few are",
        f"{safe}; ADS {float(loud['ads']):.2f} where {percent(float(loud['rate']))} are found with "
        f"{loud['cells']} cells known, {loud['noise']} {float(loud['amount']):.2g}",
        people.why(
            "ADS does not know how many cells the attacker has, so it cannot follow. "
            + ("Where it is low, hardly anyone is found here." if follows else "Where it says safe, people are found.")
        ),
    )


def _draw_11(rows: list[Row], names: list[str]) -> Any:
    panels = []
    for name in names:
        for noise in (LAPLACE, COUNTS):
            mine = [row for row in rows if (row["data"], row["noise"]) == (name, noise)]
            cells = sorted({int(row["cells"]) for row in mine})
            series = [
                Series(
                    f"{n} cells" if n > 1 else "1 cell",
                    tuple((float(row["amount"]), float(row["rate"])) for row in mine if row["cells"] == n),
                )
                for n in ([*cells[:: max(1, len(cells) // 4)], cells[-1]] if len(cells) > 6 else cells)
            ]
            near = {float(row["amount"]): float(row["ads"]) for row in mine}
            series = list(dict.fromkeys([*series, Series("ADS", tuple(near.items()))]))
            on = "probabilities" if noise == LAPLACE else "counts"
            title = f"{name}, noise on {on}"
            panels.append(charts.curves(series, title, "variance", "found, and ADS", x_log=True, black=("ADS",)))
    return charts.stacked(panels, 190, columns=2)
