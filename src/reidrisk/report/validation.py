"""The two reports on a release: a public one, and an internal one that no privacy statement covers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reidrisk.present.html.offline import drawn_specs, filled, save
from reidrisk.release.validate.budget import NoiseBudget
from reidrisk.release.validate.canary import CanaryTest
from reidrisk.release.validate.internal import InternalValidation
from reidrisk.release.validate.noise import NoiseFit
from reidrisk.release.validate.public import PublicValidation
from reidrisk.report import validation_charts as charts
from reidrisk.report.tables import Table
from reidrisk.report.validation_tables import (
    KINDS,
    correlation_table,
    error_table,
    near_table,
    rate_table,
    statement_rows,
)

__all__ = ["render_internal", "render_public", "write_internal", "write_public"]


@dataclass(frozen=True)
class Section:
    """A part of the page: words, a chart or none, and tables."""

    name: str
    title: str
    before: str
    after: str
    still: Any
    specs: dict[str, Any]
    tables: tuple[tuple[str, Table], ...]


def write_public(
    result: PublicValidation,
    path: str | Path,
    canary: CanaryTest | None = None,
    noise: NoiseFit | None = None,
    budget: NoiseBudget | None = None,
) -> None:
    """Write the public report of a release as one HTML file: model and samples against the released statistics.

    Parameters
    ----------
    result : PublicValidation
        From :func:`reidrisk.release.public_validation`.
    path : str or path
        The file.
    canary : CanaryTest, optional
        The attack on noise of the stated size, from :func:`reidrisk.release.canary`.
    noise : NoiseFit, optional
        Whether the counts have the stated noise, from :func:`reidrisk.release.noise_fit`; without it the page says that
        this was not examined.
    budget : NoiseBudget, optional
        Whether the stated noise is enough for the stated budget, from :func:`reidrisk.release.noise_budget`.
    """
    save(render_public(result, canary, noise, budget), path)


def write_internal(result: InternalValidation, path: str | Path) -> None:
    """Write the internal report of a release as one HTML file; it says on top that it must not be published."""
    save(render_internal(result), path)


def render_public(
    result: PublicValidation,
    canary: CanaryTest | None = None,
    noise: NoiseFit | None = None,
    budget: NoiseBudget | None = None,
) -> str:
    """Return the public report as the text of one HTML file; nothing in it comes from the real data but the release."""
    rows = [s for s in result.summaries if s.kind == "all" or s.what != "popularity alone"]
    moved = ", ".join(f"{100 * value:.2g} percentage points for {KINDS[kind]}" for kind, value in result.noise.items())
    sections = [
        _section(
            "absolute",
            "How far off, in percentage points",
            "Each line says which share of the statistics is off by no more than so much. Further up is better.",
            f"Before post-processing, the noise alone moved a statistic by about {moved}." if moved else "",
            lambda narrow: charts.absolute_errors(result, narrow),
            (("Errors by kind of statistic", error_table(rows)),),
        ),
        _section(
            "relative",
            "How far off, in proportion",
            "The same for statistics of at least 0.01 %, as a share of the statistic itself.",
            "Rare pairs are the hardest: their statistics are small beside the noise.",
            lambda narrow: charts.relative_errors(result, narrow),
            (),
        ),
        _section(
            "density",
            "Too high or too low",
            "How the errors of statistics of at least 0.01 % spread around 0. A line that leans to one side would "
            "show a model that exaggerates, or plays down.",
            "Errors beyond half of the statistic are not drawn.",
            lambda narrow: charts.error_density(result, narrow),
            (),
        ),
    ]
    if noise is not None:
        sections.append(_noise_section(noise))
    if budget is not None:
        told = f"{budget.reading} This is arithmetic on the statement, and does not look at the counts in the file."
        sections.append(Section("budget", "The stated noise and the stated budget", told, "", "", {}, ()))
    if canary is not None:
        sections.append(_canary_section(canary))
    facts = [
        f"{result.n_types:,} types",
        f"{result.n_epochs} epochs",
        f"sets of {result.k} out of {result.n_tokens:,} tokens",
        f"J = {result.objective:.3g}",
    ]
    if result.n_sampled:
        facts.append(f"{result.n_sampled:,} synthetic users")
    mood, verdict, news = _top(result, canary, noise, budget)
    return _page(
        "Public validation of a release",
        "Model and samples against the released statistics",
        "",
        mood,
        verdict,
        news,
        facts,
        statement_rows(result.statement, believed=mood != "alarm"),
        sections,
        result.assumptions + (() if noise is None else noise.assumptions),
        "This file was made from released statistics alone. It works without a network and sends nothing.",
    )


def _top(
    result: PublicValidation, canary: CanaryTest | None, noise: NoiseFit | None, budget: NoiseBudget | None
) -> tuple[str, str, str]:
    """Return the mood of the box on top, its sentence and what follows: whatever fails comes first."""
    failed = [noise.reading] if noise is not None and noise.fits is False else []
    if canary is not None and not canary.passed:
        failed.append(canary.reading)  # it speaks of the budget too
    elif budget is not None and budget.enough is False:
        failed.append(budget.reading)
    looked = "Whether the counts have the stated noise was not examined." if noise is None else noise.reading
    # What was not examined has not passed, and is said first.
    unseen = noise is None or noise.fits is None
    more = [] if failed or unseen else [looked]
    if budget is not None and budget.enough is None:
        more.append(budget.reading)
    if result.n_sampled:
        more.append(
            f"Of the sample's frequencies {100 * result.agreement:.1f} % lie within the 95 % interval that the model "
            f"gives. {100 * result.short:.2g} % of the synthetic sets came out short; they are padded where they are "
            "used."
        )
    if failed:
        return "alarm", " ".join(failed), " ".join([result.reading, *more])
    sure = not unseen and (budget is None or budget.enough)
    sure = sure and result.beats_popularity and not result.statement.simulation
    first = f"{looked} {result.reading}" if unseen else result.reading
    return "calm" if sure else "unsure", first, " ".join(more)


def render_internal(result: InternalValidation) -> str:
    """Return the internal report as the text of one HTML file."""
    sections = []
    if result.rates:
        sections.append(
            _section(
                "rates",
                "Who can be found again",
                "How many people each attack finds among all, on real and on synthetic users, one standard deviation "
                "over the trials either way.",
                "Agreement means: the two means are within one standard deviation of the trials on real users.",
                lambda narrow: charts.rates(result.rates, narrow),
                (("Rates of right links", rate_table(result)),),
            )
        )
    found = result.distinct
    sections += [
        _section(
            "distinct",
            "Distinct tokens of a person",
            f"How many distinct tokens people have over {result.n_epochs} epochs. The model was not told. Correlation "
            f"{found.correlation:.3f} ({found.low:.3f} to {found.high:.3f}); the two disagree on "
            f"{100 * found.distance:.1f} % of people.",
            "Types know pairs of neighbouring epochs only; how long an interest lasts follows from them, not from the "
            "data.",
            lambda narrow: charts.distinct(found, narrow),
            (),
        ),
        Section(
            "errors",
            "Against the exact statistics",
            "How far the released statistics and the model are from what was counted without noise.",
            "",
            "",
            {},
            (("Errors by kind of statistic", error_table(list(result.summaries))),),
        ),
        Section(
            "stationary",
            "One epoch and another",
            "The model takes every epoch to be alike. Correlation between the statistics of any two epochs, real and "
            "synthetic; 1 is alike.",
            "",
            "",
            {},
            tuple(
                (f"{KINDS[kind].capitalize()}: real, then synthetic", correlation_table(result, kind))
                for kind in KINDS
                if kind != "all" and len(result.real_stationarity[kind]) > 1
            ),
        ),
    ]
    trials = len(result.rates[0].real_each) if result.rates else 0
    facts = [f"{result.n_users:,} real users", f"{result.n_epochs} epochs", f"{trials} trials", f"seed {result.seed}"]
    return _page(
        "Internal validation of a release",
        "Synthetic users against the real people",
        result.warning,
        "unsure",
        result.reading,
        "",
        facts,
        (),
        sections,
        result.assumptions,
        "This file was made from the real data. It works without a network and sends nothing.",
    )


def _page(
    kind: str,
    subject: str,
    warning: str,
    mood: str,
    verdict: str,
    news: str,
    facts: list[str],
    statement: tuple[tuple[str, str], ...],
    sections: list[Section],
    assumptions: tuple[str, ...],
    footer: str,
) -> str:
    from reidrisk import __version__

    return filled(
        "validation.html",
        {section.name: section.specs for section in sections if section.specs},
        version=__version__,
        kind=kind,
        subject=subject,
        warning=warning,
        mood=mood,
        verdict=verdict,
        news=news,
        facts=facts,
        statement=statement,
        sections=sections,
        assumptions=assumptions,
        command="",
        footer=footer,
    )


def _section(
    name: str,
    title: str,
    before: str,
    after: str,
    draw: Callable[[bool], Any],
    tables: tuple[tuple[str, Table], ...],
) -> Section:
    specs, still = drawn_specs(draw)
    return Section(name, title, before, after, still, specs, tables)


def _noise_section(fit: NoiseFit) -> Section:
    caption = "Near-empty counts: those within three sigma of 0"
    return Section(
        "noise",
        "The noise in the file",
        f"{fit.reading} What would be the same in all tables without noise, and what would be 0, shows how much noise "
        "there is.",
        "",
        "",
        {},
        ((caption, near_table(fit)),) if fit.tables else (),
    )


def _canary_section(test: CanaryTest) -> Section:
    rows = [
        (name, f"{block['promised']:.3f}", f"{block['found']:.3f}", f"{block['low']:.3f} to {block['high']:.3f}")
        for name, block in test.blocks.items()
    ]
    rows.append(("all tables", f"{test.promised:.3f}", f"{test.found:.3f}", f"{test.low:.3f} to {test.high:.3f}"))
    columns = ("table of counts", "promised at most", "measured", "95 % interval")
    return _section(
        "canary",
        "An attack on noise of the stated size",
        f"{test.reading} {test.trials:,} releases with and {test.trials:,} without a canary were made, with new noise: "
        "this is about the statement, and does not look at the counts in the file.",
        "The attacker knows everybody else and the canary, and uses the best test there is. A curve above the promised "
        "one would mean too little noise.",
        lambda narrow: charts.canary(test, narrow),
        (
            (
                "How well a canary is told from none: distance in standard deviations",
                Table(columns, tuple(rows), (1, 2, 3)),
            ),
        ),
    )
