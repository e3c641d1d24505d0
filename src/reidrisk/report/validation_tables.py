"""The tables of the reports on a release, as text."""

from __future__ import annotations

from typing import Any

from reidrisk.base.wording import percent
from reidrisk.privacy import PrivacyStatement
from reidrisk.release.validate.errors import ErrorSummary, share
from reidrisk.release.validate.internal import InternalValidation
from reidrisk.release.validate.noise import NoiseFit
from reidrisk.report.phrases import attack_label
from reidrisk.report.tables import Table

__all__ = ["KINDS", "correlation_table", "error_table", "near_table", "rate_table", "statement_rows"]

KINDS = {"all": "all", "single": "tokens", "within": "pairs within an epoch", "across": "pairs across two epochs"}
"""Words for the kinds of statistics."""


def statement_rows(statement: PrivacyStatement, believed: bool = True) -> tuple[tuple[str, str], ...]:
    """Return what the privacy statement says, part by part; what failed its test is only what is stated."""
    said = statement.reading if believed else f"As stated, but see the top of this page: {statement.reading}"
    rows = [
        ("In one sentence", said),
        ("Mechanism", statement.mechanism),
        ("Epsilon and delta", f"{statement.epsilon:.6g} and {statement.delta:.3g}"),
        ("Unit of privacy", statement.unit),
        ("Neighbouring data", statement.neighbours),
        ("Accounting", statement.accounting),
        ("Noise of a count", ", ".join(f"{name}: {sigma:.4g}" for name, sigma in statement.sigma.items())),
        ("Taken as public", "; ".join(statement.taken_as_public)),
        ("Post-processing", "; ".join(statement.post_processing)),
    ]
    return tuple((name, value) for name, value in rows if value)


def error_table(summaries: list[ErrorSummary]) -> Table:
    """Return errors by kind of statistic."""
    columns = (
        "of",
        "statistics",
        "how many",
        "within 0.1 points",
        "at least 0.01 %",
        "of those within a fifth",
        "median",
    )
    rows = tuple(
        (
            s.what,
            KINDS[s.kind],
            f"{s.n:,}",
            share(s.within_point),
            f"{s.n_large:,}",
            share(s.within_fifth),
            f"{100 * s.median_relative:.2g} %",
        )
        for s in summaries
    )
    return Table(columns, rows, (2, 3, 4, 5, 6))


def near_table(fit: NoiseFit) -> Table:
    """Return how near 0 the near-empty counts of each table are, beside what the stated noise allows."""
    columns = ("table of counts", "stated sigma", "near-empty counts", "within one sigma", "at most", "p-value")
    rows = tuple(
        (
            name,
            f"{table['sigma']:.4g}",
            f"{table['near']:,}",
            percent(table["within"]) if table["near"] else "",
            percent(table["expected"]),
            f"{table['p']:.2g}" if table["p"] >= 1e-6 else "below 0.000001",
        )
        for name, table in fit.tables.items()
    )
    return Table(columns, rows, (1, 2, 3, 4, 5))


def rate_table(result: InternalValidation) -> Table:
    """Return the rate of each attack on real and on synthetic users."""
    columns = ("attack", "people", "real", "± over trials", "synthetic", "± over trials", "blind guess", "agree")
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
    return Table(columns, rows, (2, 3, 4, 5, 6))


def correlation_table(result: InternalValidation, kind: str) -> Table:
    """Return the correlation between any two epochs, real and synthetic."""
    count = len(result.real_stationarity[kind])
    name = [f"{i + 1} to {i + 2}" if kind == "across" else f"epoch {i + 1}" for i in range(count)]
    rows = tuple(
        (f"{name[i]} and {name[j]}", *(f"{matrix[kind][i][j]:.3f}" for matrix in _both(result)))
        for i in range(count)
        for j in range(i + 1, count)
    )
    return Table(("epochs", "real", "synthetic"), rows, (1, 2))


def _both(result: InternalValidation) -> tuple[Any, Any]:
    return result.real_stationarity, result.synthetic_stationarity
