"""Derive ``populations/published.json`` from the printed figures, and set every figure beside ours.

``python -m reidrisk_studies.calibrate_published --out published.json`` derives the parameters (about a minute);
without ``--out`` the embedded ones are only measured. Both print the table of the documentation page.
"""

from __future__ import annotations

import argparse
import json
import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri

from reidrisk.base.streams import blocks, stream
from reidrisk.populations.published import (
    N_TOPICS,
    SET_SIZE,
    Parameters,
    correlated,
    draw,
    embedded,
    named_topics,
)
from reidrisk_studies.carey.information import epoch_information
from reidrisk_studies.dick.printed import ACROSS, SINGLE, WITHIN

__all__ = ["Figure", "derive", "information", "measured_figures", "rates", "rates_across", "written"]

Floats = npt.NDArray[np.float64]

# carey, Appendix F.1.4: one epoch, in bits; the noise is that of the Topics API.
ENTROPY, MUTUAL_INFORMATION, NOISE = 7.59, 0.93, 0.05

# Free choices; the documentation page gives the reasons.
ALSO_NAMED = {"/Sports/Soccer": 6.0, "/News/Local News": 6.0}  # between their listed pair and the tenth topic
KEPT_SHARE = 0.50  # users who still have an unlisted topic a week later: the lowest listed share
ACROSS_OVER_WITHIN = 0.90  # pairs listed within a week only: the mean of the listed pairs that attract each other
MARGIN = 0.93  # an unlisted pair stays below this share of the tenth published rate
ONE_WAY = 0.985  # a pair listed in one direction only: the other one must stay below the tenth published rate
FIRST_UNNAMED = 0.075  # rate of the most popular unnamed topic: just below the tenth published one
UNNAMED = {"n_themes": 20, "n_favourites": 8, "favourite_share": 0.8}

_QUADRATURE = np.polynomial.legendre.leggauss(48)
CALIBRATION_SEED = 20_250  # not a default anywhere: the figures we report come from other seeds


@dataclass(frozen=True)
class Figure:
    """One printed figure beside ours, ``worst`` being ours of the week (or pair of weeks) furthest from it."""

    source: str
    name: str
    published: float
    ours: float
    worst: float


def information(single: Floats, within: Floats, noise: float = NOISE, k: int = SET_SIZE) -> tuple[float, float]:
    """Entropy of one observed topic, and mutual information between two observers, of one epoch, in bits."""
    found = epoch_information(single, within, noise, k)
    return found.entropy, found.mutual


def rates(sets: npt.NDArray[np.int16], n_topics: int = N_TOPICS) -> tuple[Floats, Floats]:
    """Return q_single (N,) and q_within (N, N), symmetric with zero diagonal, of (n, k) sets of one week."""
    single = np.bincount(sets.ravel(), minlength=n_topics) / len(sets)
    within = rates_across(sets, sets, n_topics)
    np.fill_diagonal(within, 0.0)
    return single, within


def rates_across(now: npt.NDArray[np.int16], later: npt.NDArray[np.int16], n_topics: int = N_TOPICS) -> Floats:
    """Return q_across (N, N): users with the first topic in one week's sets and the second in the other's."""
    counts = np.zeros(n_topics**2, dtype=np.int64)
    for i in range(now.shape[1]):
        for j in range(later.shape[1]):
            counts += np.bincount(now[:, i].astype(np.int64) * n_topics + later[:, j], minlength=n_topics**2)
    return counts.reshape(n_topics, n_topics) / len(now)


def derive() -> Parameters:
    """Derive all parameters from the printed figures and the free choices above."""
    return _fit_unnamed(_fit_named())


def _fit_named(rounds: int = 4) -> Parameters:
    """Thresholds and covariances: each rate is inverted on its own, then corrected for sets cut to five topics."""
    labels = (*SINGLE, *ALSO_NAMED)
    goal = _goals(labels)
    asked = tuple(np.array(table) for table in goal)
    for _ in range(rounds):
        parameters = _invert(labels, *asked)
        got = _named_rates(parameters)
        asked = tuple(a * g / np.where(m > 0, m, 1) for a, g, m in zip(asked, goal, got, strict=True))
    return _invert(labels, *asked)


def _goals(labels: Sequence[str]) -> tuple[Floats, Floats, Floats]:
    """Rates that the named topics shall have: printed where printed, else independent or just below the tenth."""
    place = {label: i for i, label in enumerate(labels)}
    single = np.array([{**SINGLE, **ALSO_NAMED}[label] for label in labels]) / 100
    independent = np.outer(single, single)
    cap_within, cap_across = MARGIN * min(WITHIN.values()) / 100, MARGIN * min(ACROSS.values()) / 100
    within = np.minimum(independent, cap_within)
    across = np.minimum(independent, cap_across)
    across[np.diag_indices_from(across)] = np.minimum(KEPT_SHARE * single, cap_across)
    for (one, other), rate in WITHIN.items():
        i, j = place[one], place[other]
        within[i, j] = within[j, i] = rate / 100
        across[i, j] = across[j, i] = min(ACROSS_OVER_WITHIN * rate / 100, cap_across)
    for (one, other), rate in ACROSS.items():
        # Users drawn alike every week have symmetric rates; the two directions printed differ by 3 % at most.
        i, j = place[one], place[other]
        reverse = ACROSS.get((other, one), (2 * ONE_WAY - 1) * rate)
        across[i, j] = across[j, i] = (rate + reverse) / 200
    np.fill_diagonal(within, 0.0)
    return single, within, across


def _invert(labels: tuple[str, ...], single: Floats, within: Floats, across: Floats) -> Parameters:
    """Tetrachoric correlations: the bivariate normal that exceeds both thresholds at the given rate."""
    h = -ndtri(single)
    total = np.eye(h.size)
    lasting = np.empty_like(total)
    for i in range(h.size):
        for j in range(i + 1):
            lasting[i, j] = lasting[j, i] = _tetrachoric(h[i], h[j], across[i, j])
            if i != j:
                total[i, j] = total[j, i] = _tetrachoric(h[i], h[j], within[i, j])
    weekly = total - lasting
    for name, matrix in (("lasting", lasting), ("weekly", weekly)):
        if np.linalg.eigvalsh(matrix)[0] <= 1e-4:
            raise ArithmeticError(f"the {name} interests that the rates ask for are not a covariance")
    return Parameters(labels, h, lasting, weekly, shift=1.7, exponent=0.76, theme_share=0.66, **UNNAMED)  # type: ignore[arg-type]


def _tetrachoric(a: float, b: float, rate: float) -> float:
    return float(brentq(lambda r: _both_exceed(a, b, r) - rate, -0.999, 0.999))


def _both_exceed(a: float, b: float, r: float) -> float:
    """P(X > a, Y > b) at correlation r: Plackett's integral of the density over the correlation."""
    nodes, weights = _QUADRATURE
    t = r * (nodes + 1) / 2
    slope = np.exp(-(a * a - 2 * a * b * t + b * b) / (2 * (1 - t * t))) / (2 * math.pi * np.sqrt(1 - t * t))
    return float(ndtr(-a) * ndtr(-b) + r / 2 * (weights @ slope))


def _named_rates(parameters: Parameters, n: int = 1 << 22) -> tuple[Floats, Floats, Floats]:
    """Measure the rates of the named topics; the same draws every time, so that corrections converge."""
    both = np.zeros((2, parameters.n_named, parameters.n_named))
    for block, start, stop in blocks(n):
        rng = stream(CALIBRATION_SEED, "calibrate named topics", block)
        lasting = correlated(parameters.lasting, stop - start, rng)
        one, two = (named_topics(parameters, lasting, rng).astype(np.float32) for _ in range(2))
        both += np.stack([one.T @ one + two.T @ two, one.T @ two + two.T @ one]) / (2 * n)
    single = np.diag(both[0]).copy()
    np.fill_diagonal(both[0], 0.0)
    return single, both[0], both[1]


def _fit_unnamed(start: Parameters, n: int = 1 << 20) -> Parameters:
    """Shift, exponent and theme share by Broyden's method: entropy, first unnamed rate, mutual information."""

    def at(x: Floats) -> Parameters:
        shift, exponent, share = (round(float(v), 5) for v in x)
        return replace(start, shift=shift, exponent=exponent, theme_share=share)

    def miss(x: Floats) -> Floats:
        single, within = rates(draw(at(x), n, 1, CALIBRATION_SEED)[:, 0])
        entropy, shared = information(single, within)
        first = single[start.n_named :].max()
        return np.array([entropy - ENTROPY, shared - MUTUAL_INFORMATION, 10 * (first - FIRST_UNNAMED)])

    x = np.array([start.shift, start.exponent, start.theme_share])
    error = miss(x)
    slope = np.column_stack([(miss(x + step) - error) / step.sum() for step in np.diag([0.3, 0.05, 0.04])])
    while np.abs(error).max() > 2e-3:
        step = np.linalg.solve(slope, -error)
        x, before, error = x + step, error, miss(x + step)
        slope += np.outer(error - before - slope @ step, step) / (step @ step)
    return at(x)


def measured_figures(parameters: Parameters, n: int = 1_000_000, epochs: int = 3, seed: int = 1) -> Iterator[Figure]:
    """Set every printed figure beside the one measured on ``n`` users."""
    sets = draw(parameters, n, epochs, seed)
    place = {label: i for i, label in enumerate(parameters.labels)}
    weekly = [rates(sets[:, e]) for e in range(epochs)]
    across = np.array([rates_across(sets[:, e], sets[:, e + 1]) for e in range(epochs - 1)])
    single, within = np.array([s for s, _ in weekly]), np.array([w for _, w in weekly])

    def figure(source: str, name: str, printed: float, got: Floats) -> Figure:
        return Figure(source, name, printed, float(got.mean()), float(got[np.abs(got - printed).argmax()]))

    def pair(tables: Floats, one: str, other: str) -> Floats:
        return np.asarray(100 * tables[:, place[one], place[other]])

    for label, rate in SINGLE.items():
        yield figure("dick, Figure 1", label, rate, 100 * single[:, place[label]])
    for (one, other), rate in WITHIN.items():
        yield figure("dick, Figure 7a", f"{one} and {other}", rate, pair(within, one, other))
    for (one, other), rate in ACROSS.items():
        yield figure("dick, Figure 7b", f"{one} then {other}", rate, pair(across, one, other))
    listed: list[tuple[str, Floats, float, list[tuple[int, ...]]]] = [
        ("dick, Figure 1", single, min(SINGLE.values()), [(place[a],) for a in SINGLE]),
        ("dick, Figure 7a", within, min(WITHIN.values()), [(place[a], place[b]) for a, b in WITHIN]),
        ("dick, Figure 7b", across, min(ACROSS.values()), [(place[a], place[b]) for a, b in ACROSS]),
    ]
    for source, table, limit, cells in listed:
        unlisted = np.ones(table.shape[1:], dtype=bool)
        for cell in cells:
            unlisted[cell] = False
            if table is within:
                unlisted[cell[::-1]] = False
        highest = 100 * table[:, unlisted].max(axis=1)
        yield Figure(source, "highest unlisted, at most", limit, float(highest.mean()), float(highest.max()))
    bits = np.array([information(s, w) for s, w in weekly])
    yield figure("carey, F.1.4", "entropy of one epoch, bits", ENTROPY, bits[:, 0])
    yield figure("carey, F.1.4", "mutual information of one epoch, bits", MUTUAL_INFORMATION, bits[:, 1])


def written(parameters: Parameters) -> dict[str, Any]:
    """Return what ``published.json`` holds; covariances as lower triangles, one row a topic."""
    columns = (parameters.threshold, parameters.lasting, parameters.weekly)
    rows = zip(parameters.labels, *(values.tolist() for values in columns), strict=True)
    unnamed = ("shift", "exponent", "n_themes", "theme_share", "n_favourites", "favourite_share")
    return {
        "named": [
            {"label": label, "threshold": h, "lasting": a[: i + 1], "weekly": b[: i + 1]}
            for i, (label, h, a, b) in enumerate(rows)
        ],
        "unnamed": {name: getattr(parameters, name) for name in unnamed},
    }


def main(argv: Sequence[str] | None = None) -> None:
    """Run from a shell; see the first lines of this module."""
    parser = argparse.ArgumentParser(prog="calibrate_published", description=__doc__)
    parser.add_argument("--out", type=Path, help="derive the parameters and write them to this file")
    out = parser.parse_args(argv).out
    if out is None:
        parameters = embedded()
    else:
        text = json.dumps(written(derive()), indent=1)
        # Five decimals move no rate by more than 1e-5, and keep the file readable.
        rounded = json.loads(text, parse_float=lambda number: round(float(number), 5))
        partial = out.with_name(out.name + ".partial")
        partial.write_text(json.dumps(rounded, indent=1) + "\n", encoding="utf-8")
        os.replace(partial, out)
        parameters = Parameters.from_dict(rounded)
    print("| source | figure | published | ours | furthest week |", "| --- | --- | ---: | ---: | ---: |", sep="\n")
    for f in measured_figures(parameters):
        print(f"| {f.source} | {f.name} | {f.published:.2f} | {f.ours:.2f} | {f.worst:.2f} |")


if __name__ == "__main__":
    main()
