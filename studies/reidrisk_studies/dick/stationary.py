"""Dick et al., DP synthetic data release for Topics API outputs: one week and another, figure 8."""

from __future__ import annotations

from dataclasses import replace

from reidrisk.base.progress import Progress, Steps
from reidrisk.present import drawing
from reidrisk.release.validate.deviations import frequencies
from reidrisk.release.validate.internal import stationarity
from reidrisk_studies.dick.printed import STATIONARY
from reidrisk_studies.dick.releases import ASSUMED, people
from reidrisk_studies.dick.statistics import PRINTED, WORDS
from reidrisk_studies.results import Comparison, Row, StudyResult, line
from reidrisk_studies.study import study

__all__ = ["figure_8"]


@study(
    "dick-fig8",
    title="DP release: one week and another",
    reference="dick, Figure 8",
    users=1_000_000,
    seconds=(3.0, 10.0),
)
def figure_8(users: int, seed: int, progress: Progress) -> StudyResult:
    """Correlation between the exact statistics of any two weeks (dick, Figure 8)."""
    steps = Steps(progress, 2.0)
    steps.begin(f"draw {users:,} users", 1.0)
    sets = people(users, seed)
    steps.begin("count pairs of every week", 1.0)
    found = stationarity(frequencies(sets))
    rows: list[Row] = [
        {"statistics": kind, "first": i + 1, "second": j + 1, "published": printed, "ours": found[kind][i][j]}
        for kind, pairs in STATIONARY.items()
        for (i, j), printed in pairs.items()
    ]
    drawn = []
    # Steps are at most two weeks apart; they stay in the table.
    for kind, style in zip(("single", "within"), drawing.ATTACKS, strict=False):
        for name, column in (("ours", "ours"), ("printed", "published")):
            points = _missing_by_lag([row for row in rows if row["statistics"] == kind], column)
            look = style if name == "ours" else replace(PRINTED, shape=style.shape)
            drawn.append(line(f"{WORDS[kind].capitalize()}, {name}", look, points))
    why = (
        "Our people's habits do not change, so what is missing to 1 is that weeks are counted on few users; the "
        "paper's people were observed over Christmas and the new year."
    )
    compared = []
    for kind, pairs in STATIONARY.items():
        mine = min(found[kind][i][j] for i, j in pairs)
        printed = f"{min(pairs.values()):.6f}"
        if kind == "within":
            printed += " (weeks 1 and 4; the text says at least 99.8 %)"
        compared.append(Comparison(f"least correlation, {WORDS[kind]}", printed, f"{mine:.6f}", why))
    return StudyResult(
        users=users,
        seed=seed,
        rows=tuple(rows),
        lines=tuple(drawn),
        x_title="weeks apart",
        y_title="what is missing to a correlation of 1",
        comparisons=tuple(compared),
        assumptions=(
            ASSUMED[0],
            "Exact counts, no noise: in a release this comparison is internal. Bands go from the least to the largest "
            "of the pairs of weeks that are so far apart.",
        ),
    )


def _missing_by_lag(rows: list[Row], column: str) -> dict[int, tuple[float, float, float]]:
    points = {}
    for lag in sorted({int(row["second"]) - int(row["first"]) for row in rows}):
        values = [1.0 - float(row[column]) for row in rows if int(row["second"]) - int(row["first"]) == lag]
        points[lag] = (sum(values) / len(values), min(values), max(values))
    return points
