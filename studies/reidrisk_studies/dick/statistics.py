"""Dick et al., DP synthetic data release for Topics API outputs: what is released, and how near the model comes.

Figures 1 and 7 (the statistics), 3 and 4 (errors of the model). One week and another, figure 8, is in
:mod:`reidrisk_studies.dick.stationary`; what depends on synthetic users, figures 5 and 6, is in
:mod:`reidrisk_studies.dick.synthetic_users`.
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

from reidrisk.base.progress import Progress, Steps
from reidrisk.present import drawing
from reidrisk.release import MixtureStatistics, Statistics
from reidrisk.release.validate.deviations import (
    ABSOLUTE,
    RELATIVE,
    RELATIVE_BINS,
    ErrorSummary,
    compare,
    errors_of,
    noise_of,
    popularity_alone,
)
from reidrisk_studies.dick.printed import ACROSS, SINGLE, WITHIN
from reidrisk_studies.dick.releases import ASSUMED, EPOCHS, fitted, measured, public_release, size_of, with_fits
from reidrisk_studies.results import Comparison, Row, StudyResult, line
from reidrisk_studies.study import study

__all__ = ["figure_1", "figure_3"]

_ABSOLUTE_BINS = tuple(np.round(np.linspace(-5e-5, 5e-5, 41), 12).tolist())
WORDS = {"single": "topics", "within": "pairs within a week", "across": "pairs across weeks"}
PRINTED = drawing.Style("#52606d", dash=(2, 4), shape="square")


@study(
    "dick-fig1",
    title="DP release: the most common topics and pairs",
    reference="dick, Figures 1 and 7",
    users=1_000_000,
    seconds=(3.0, 10.0),
    data=("topics-release",),
)
def figure_1(users: int, seed: int, progress: Progress) -> StudyResult:
    """Released statistics of the most common topics and pairs, beside the printed ones (dick, Figures 1 and 7)."""
    steps = Steps(progress, 2.0)
    steps.begin(f"draw and measure {users:,} users", 2.0)
    stats = measured(users, seed)
    sources = {"published population": stats}
    given = public_release()
    if given is not None:
        sources["public release"] = given
    rows = [row for name, source in sources.items() for row in _printed_rows(name, source)]
    ours = [row for row in rows if row["statistics of"] == "published population"]
    drawn = []
    for (kind, words), style in zip(WORDS.items(), drawing.ATTACKS, strict=False):
        mine = [row for row in ours if row["kind"] == kind]
        points = {rank: (float(row["ours"]), float(row["low"]), float(row["high"])) for rank, row in enumerate(mine, 1)}
        printed = {rank: (float(row["published"]),) * 3 for rank, row in enumerate(mine, 1)}
        drawn.append(line(f"{words.capitalize()}, ours", style, points))
        drawn.append(line(f"{words.capitalize()}, printed", PRINTED, printed))
    compared = []
    for kind, words in WORDS.items():
        mine = [row for row in ours if row["kind"] == kind]
        worst = max(mine, key=lambda row: abs(float(row["ours"]) - float(row["published"])))
        compared.append(
            Comparison(
                f"ten most common {words}: largest difference, {worst['what']}",
                f"{100 * float(worst['published']):.2f} %",
                "{ours:.2f} % ({low:.2f} to {high:.2f})".format(
                    **{column: 100 * float(worst[column]) for column in ("ours", "low", "high")}
                ),
                "The population was calibrated to these very figures; pairs of twelve named topics cannot all be met "
                "at once. With fewer users, sampling and noise are larger.",
            )
        )
    return StudyResult(
        users=users,
        seed=seed,
        rows=tuple(rows),
        lines=tuple(drawn),
        x_title="rank",
        y_title="share of users and weeks",
        y_linear=True,
        comparisons=tuple(compared),
        assumptions=(
            *ASSUMED,
            "Intervals (95 %) allow for which users were drawn, and for the noise before counts are brought to agree.",
            _given(given),
        ),
    )


def _printed_rows(source: str, stats: Statistics) -> list[Row]:
    labels = list(stats.vocabulary.labels) if stats.vocabulary is not None else []
    place = {label: token for token, label in enumerate(labels)}
    noise = noise_of(stats)
    rows: list[Row] = []
    printed = {"single": {(name, name): v for name, v in SINGLE.items()}, "within": WITHIN, "across": ACROSS}
    for kind, entries in printed.items():
        for (first, second), percent in entries.items():
            if first not in place or second not in place:
                continue
            a, b = place[first], place[second]
            value = float(stats.single[a]) if kind == "single" else float(getattr(stats, kind)[a, b])
            # A token's statistic is a sum of N - 1 pairs over k - 1.
            spread = noise.get("across" if kind == "across" else "within", 0.0)
            if kind == "single":
                spread *= math.sqrt(stats.n_tokens - 1) / max(stats.k - 1, 1)
            people_drawn = value * (1.0 - value) / stats.n_users if math.isfinite(stats.n_users) else 0.0
            half = 1.96 * math.sqrt(people_drawn + spread**2)
            join = {"single": "", "within": " and ", "across": " then "}[kind]
            rows.append(
                {
                    "statistics of": source,
                    "kind": kind,
                    "what": first + (join + second if join else ""),
                    "published": percent / 100.0,
                    "ours": value,
                    "low": max(0.0, value - half),
                    "high": value + half,
                }
            )
    return rows


@study(
    "dick-fig3",
    title="DP release: errors of the model",
    reference="dick, Figures 3 and 4",
    users=1_000_000,
    seconds=with_fits(5.0, 10.0),
    data=("topics-release",),
)
def figure_3(users: int, seed: int, progress: Progress) -> StudyResult:
    """Errors of the model's statistics against the released ones (dick, Figures 3 and 4)."""
    size = size_of(users)
    steps = Steps(progress, 10.0)
    steps.begin(f"draw and measure {users:,} users", 2.0)
    stats = measured(users, seed)
    steps.begin(f"fit {size.types} types", 7.0)
    model = fitted(users, seed)
    sources = {"published population": (stats, model)}
    given = public_release()
    if given is not None:
        sources["public release"] = (given, fitted(users, seed, public=True))
    steps.begin("compare", 1.0)
    rows: list[Row] = []
    summaries: dict[tuple[str, str], ErrorSummary] = {}
    drawn = []
    for source, (targets, fit) in sources.items():
        found = {"model": fit.statistics(), "popularity alone": popularity_alone(targets, EPOCHS)}
        for (what, values), style in zip(found.items(), (drawing.ATTACKS[0], drawing.GUESSING), strict=True):
            each, curves = compare(values, targets, what)
            summaries[source, what] = each[0]
            for figure, at, shares in (
                ("3a", ABSOLUTE, curves.absolute),
                ("3b", RELATIVE, curves.relative),
                ("4a", _middles(_ABSOLUTE_BINS), _absolute_density(values, targets)),
                ("4b", _middles(RELATIVE_BINS), curves.relative_density),
            ):
                rows += [
                    {"statistics of": source, "series": what, "figure": figure, "error": float(x), "share": share}
                    for x, share in zip(at, shares, strict=True)
                ]
            points = {100 * x: (s, s, s) for x, s in zip(RELATIVE, curves.relative, strict=True)}
            name = {"model": "Model", "popularity alone": "Popularity alone"}[what]
            drawn.append(line(name if source == "published population" else f"{name}, {source}", style, points))
    return StudyResult(
        users=users,
        seed=seed,
        rows=tuple(rows),
        lines=tuple(drawn),
        x_title="off by no more than, % of the statistic",
        y_title="share of statistics of at least 0.01 %",
        y_linear=True,
        x_ticks=(0.0, 20.0, 40.0, 60.0, 80.0, 100.0),
        comparisons=_compared_errors(summaries, stats, _of_a_thousandth(stats, model.statistics()), size.summary()),
        assumptions=(
            *ASSUMED,
            f"{size.summary()}, {EPOCHS} epochs. Errors are over all terms of J, computed from the model.",
            "Figures 3a and 4a are errors in shares (0.001 is 0.1 percentage points), 3b and 4b relative.",
            _given(given),
        ),
    )


def _middles(bins: tuple[float, ...]) -> list[float]:
    return [(a + b) / 2.0 for a, b in pairwise(bins)]


def _absolute_density(found: MixtureStatistics, targets: Statistics) -> list[float]:
    """Return the shares of the signed errors in bins; what lies outside is in none."""
    errors = np.concatenate([error for _, error in errors_of(found, targets).values()])
    return list((np.histogram(errors, _ABSOLUTE_BINS)[0] / max(len(errors), 1)).tolist())


def _of_a_thousandth(stats: Statistics, found: MixtureStatistics) -> float:
    """Return the share within a fifth of statistics of at least 0.1 %, the limit that the paper's text has."""
    target, error = (np.concatenate(parts) for parts in zip(*errors_of(found, stats).values(), strict=True))
    large = target >= 0.001
    return float(np.mean(np.abs(error[large]) <= 0.2 * target[large]))


def _compared_errors(
    summaries: dict[tuple[str, str], ErrorSummary], stats: Statistics, of_a_thousandth: float, size: str
) -> tuple[Comparison, ...]:
    noise = " and ".join(f"{100 * v:.2g} percentage points ({WORDS[kind]})" for kind, v in noise_of(stats).items())
    why = (
        f"{size}. The noise of a statistic is {noise} here; with the hundred million users of the paper it is far "
        "smaller. A model cannot follow noise."
    )
    compared = []
    for (source, what), summary in summaries.items():
        if what != "model":
            continue
        alone = summaries[source, "popularity alone"]
        compared += [
            Comparison(
                f"within 0.1 percentage points, {source}",
                "virtually all",
                f"{100 * summary.within_point:.3f} % (popularity alone {100 * alone.within_point:.2f} %)",
                why,
            ),
            Comparison(
                f"of statistics of at least 0.01 %, within 20 %, {source}",
                "75 % (Figure 3; its text says at least 0.1 %)",
                f"{100 * summary.within_fifth:.1f} % (popularity alone {100 * alone.within_fifth:.1f} %)",
                why,
            ),
        ]
    compared.append(
        Comparison(
            "of statistics of at least 0.1 %, within 20 %, published population",
            "75 % (text; the figure says at least 0.01 %)",
            f"{100 * of_a_thousandth:.1f} %",
            why,
        )
    )
    return tuple(compared)


def _given(stats: Statistics | None) -> str:
    if stats is None:
        return (
            "The files of the public release are not in the data folder (topics_release/q_within.json, q_across.json)."
        )
    return f"The public release's own statistics, {stats.n_tokens} topics, were read from the data folder."
