"""galozy, figures 1, 6 and 7: regret over time, one user's transitions, and clusters."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from reidrisk import bandits
from reidrisk.bandits import LatentBandit, Regret
from reidrisk.bandits.sharing.grouping import clusters_of, embedding
from reidrisk.base.progress import Progress
from reidrisk.present.words.bandits import strategy_label
from reidrisk_studies.galozy import charts
from reidrisk_studies.galozy.charts import DrawnResult, Series
from reidrisk_studies.galozy.cluster_choice import cluster_scores
from reidrisk_studies.galozy.people import HOMES, SPORTSPEOPLE, WEARERS, People, Size, casas, endomondo, fitbit
from reidrisk_studies.galozy.surfaces import noisy_counts
from reidrisk_studies.galozy.two_sizes import two_sizes
from reidrisk_studies.results import Comparison, Row, StudyResult

__all__ = ["figure_1", "figure_6", "figure_7"]

_OF_COUNTS = "average of counts"
_TRIED = tuple(range(2, 16))
"""Numbers of clusters that are scored."""


@two_sizes(
    "fig1",
    title="Hard and easy rewards: regret over time",
    reference="galozy, Figure 1",
    users=HOMES,
    seconds=(10.0, 40.0),
    data=("casas",),
)
def figure_1(size: Size, users: int, seed: int, progress: Progress) -> StudyResult:
    """Run figure 1: the same matrices with hard and with easy rewards."""
    people = casas(users, seed)
    behaviour, d = people.behaviour, len(people.behaviour.states)
    strategies = ["own", "neighbour:1", "clusters:21", "clusters:14", "clusters:7", "average"]
    shared = {s: bandits.anonymise(behaviour.records, s, behaviour.profiles, seed).records for s in strategies}
    average = bandits.anonymise(behaviour.records, "average", seed=seed)
    shared[_OF_COUNTS] = noisy_counts(average, behaviour.records, 0.0, bandits.cell_weights(behaviour.records)).records
    found: dict[tuple[str, str], Regret] = {}
    for rewards, means in (("hard", bandits.hard_rewards(d)), ("easy", bandits.easy_rewards(d))):
        env = LatentBandit(behaviour.records, means)
        for strategy in shared:
            progress(f"{rewards} rewards", len(found) / (2 * len(shared)))
            found[rewards, strategy] = bandits.regret(env, shared[strategy], size.runs, size.steps, seed, bands=True)
    rows: list[Row] = [
        {
            "rewards": rewards,
            "strategy": strategy,
            "step": int(step),
            "regret": float(mean),
            "low": float(low),
            "high": float(high),
            "blind_regret": result.baseline * step / result.steps,
        }
        for (rewards, strategy), result in found.items()
        for step, mean, low, high in zip(result.at, result.curve, result.curve_low, result.curve_high, strict=True)
    ]
    panels = {
        rewards: [
            Series(strategy_label(s), tuple(zip(map(float, r.at), map(float, r.curve), strict=True)))
            for (kind, s), r in found.items()
            if kind == rewards
        ]
        for rewards in ("hard", "easy")
    }
    return DrawnResult(
        users=users,
        seed=seed,
        rows=tuple(rows),
        lines=(),
        x_title="step",
        comparisons=(*(_diminishing(people, found, strategy) for strategy in ("clusters:7", "average", _OF_COUNTS)),),
        assumptions=(people.note, f"{size.runs} runs; intervals are 95 % over runs, the same runs for all lines."),
        draw=partial(_draw_1, panels),
    )


def _diminishing(people: People, found: dict[tuple[str, str], Regret], strategy: str) -> Comparison:
    """Compare what a shared matrix costs more than the true one, with hard and with easy rewards."""
    texts, shares = [], []
    for kind in ("hard", "easy"):
        gap, blind = bandits.compare(found[kind, strategy], found[kind, "own"]), found[kind, "own"].baseline
        shares.append((gap.low / blind, gap.high / blind))
        of_blind = f"{100 * gap.difference / blind:.2g} % of blind choice"
        texts.append(f"{kind}: {gap.difference:,.0f} ({gap.low:,.0f} to {gap.high:,.0f}), {of_blind}")
    hard, easy = shares
    verdict = "These runs cannot tell which is less."
    if easy[1] < hard[0] or hard[1] < easy[0]:
        verdict = f"{'Less' if easy[1] < hard[0] else 'More'} with easy rewards, as a share and beyond the intervals."
    return Comparison(
        f"{strategy_label(strategy)}: what it costs more than the true matrix",
        "accuracy has diminishing returns for easier rewards",
        "; ".join(texts),
        people.why(
            f"{verdict} With a spread of 2, easy rewards take several recommendations to tell a state, and a matrix "
            "that expects it to end sooner forgets it before. Which arm has which of the easy means is not printed; "
            "ours go around in a circle."
        ),
    )


def _draw_1(panels: dict[str, list[Series]]) -> Any:
    drawn = [
        charts.curves(series, f"{rewards} rewards", "step", "regret so far", legend=rewards == "easy")
        for rewards, series in panels.items()
    ]
    return charts.stacked(drawn, 300, columns=2)


@two_sizes(
    "fig6",
    title="Transitions of one user",
    reference="galozy, Figure 6",
    users=HOMES,
    seconds=(2.0, 0.0),
    data=("casas",),
)
def figure_6(size: Size, users: int, seed: int, progress: Progress) -> StudyResult:
    """Run figure 6: the transitions of one user."""
    people = casas(users, seed)
    record = people.behaviour.records[0]
    d = len(record)
    spent = people.behaviour.profiles[:, :d]  # share of visits to each state
    common = np.argsort(-spent.mean(axis=0), kind="stable")[:10]
    beside = np.where(np.eye(d, dtype=np.bool_), 0.0, record)
    visited = spent[0] > 0
    beside = np.where(visited[:, None], beside, 0.0)  # the uniform rows of states this user never had are no habit
    next_state = beside / np.maximum(beside.sum(axis=1, keepdims=True), 1e-300)
    edges = [(int(a), int(b), float(next_state[a, b])) for a, b in np.argwhere(next_state > 0)]
    rows: list[Row] = [
        {"from": a, "to": b, "probability": float(record[a, b]), "probability_when_leaving": p} for a, b, p in edges
    ]
    angle = 2 * np.pi * np.arange(d) / d
    places = np.column_stack([np.cos(angle), np.sin(angle)])
    names = [str(i) for i in range(d)]
    stays = np.diagonal(record)[visited]
    return DrawnResult(
        users=users,
        seed=seed,
        rows=tuple(rows),
        lines=(),
        x_title="state",
        comparisons=(
            Comparison(
                "states, and transitions of one user",
                "41 states; a picture of one home",
                f"{d} states, of which this user has {int(visited.sum())}, with {len(edges)} different transitions; "
                f"the median state is kept with probability {np.median(stays):.4f} a second",
                people.why("Seconds on the diagonal beside counts of transitions make every state very sticky."),
            ),
        ),
        assumptions=(people.note,),
        draw=partial(charts.graph, places, edges, names, [int(i) for i in common]),
    )


@two_sizes(
    "fig7",
    title="Clusters of users, and scores of their number",
    reference="galozy, Figure 7 and Section 6.1",
    users=SPORTSPEOPLE,
    seconds=(15.0, 0.0),
    data=("casas", "endomondo", "fitbit"),
)
def figure_7(size: Size, users: int, seed: int, progress: Progress) -> StudyResult:
    """Run figure 7: clusters in the plane of t-SNE, and the scores of other numbers of clusters."""
    rows: list[Row] = []
    compared, panels, notes = [], [], []
    for done, people in enumerate((casas(HOMES, seed), endomondo(users, seed), fitbit(WEARERS, seed))):
        progress(people.name, done / 3)
        profiles = people.behaviour.profiles
        points = embedding(profiles, seed)
        labels = clusters_of(points, people.clusters, seed)
        panels.append((points, labels, f"{people.name}: {people.clusters} clusters"))
        scores = cluster_scores(profiles, _TRIED, seed)
        rows += [{"data": people.name, **score.to_dict()} for score in scores]
        best = {
            "AIC": min(scores, key=lambda s: s.aic),
            "BIC": min(scores, key=lambda s: s.bic),
            "Davies-Bouldin": min(scores, key=lambda s: s.davies_bouldin),
            "Calinski-Harabasz": max(scores, key=lambda s: s.calinski_harabasz),
        }
        numbers = {score.n_clusters for score in best.values()}
        sizes = np.bincount(labels)
        compared.append(
            Comparison(
                f"{people.name}: number of clusters",
                f"{people.clusters}, a low but reasonable number: no clear optimum",
                ", ".join(f"{name} prefers {score.n_clusters}" for name, score in best.items())
                + f"; {people.clusters} clusters have {sizes.min()} to {sizes.max()} users",
                people.why(
                    f"Among {_TRIED[0]} to {_TRIED[-1]}, k-means on the embedding. "
                    + ("The scores agree." if len(numbers) == 1 else "The scores do not agree, as the paper says.")
                ),
            )
        )
        notes.append(people.note)
    return DrawnResult(
        users=users,
        seed=seed,
        rows=tuple(rows),
        lines=(),
        x_title="clusters",
        comparisons=tuple(compared),
        assumptions=(
            *notes,
            "t-SNE keeps who is near whom, not how far clusters are apart: scores in its plane are weak.",
        ),
        draw=lambda: charts.stacked([charts.scatter(*panel) for panel in panels], 230, columns=3),
    )
