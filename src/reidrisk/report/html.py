"""One offline HTML file from the result of an audit: nothing in it is fetched, nothing in it is about one person."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import partial
from html import escape
from pathlib import Path
from typing import Any

from reidrisk.audit import AuditResult
from reidrisk.base.results import Risk
from reidrisk.base.wording import percent, two_digits
from reidrisk.bounds import tightest_by_epochs
from reidrisk.present.html.offline import filled, kept, marked, save
from reidrisk.present.model import Sentence
from reidrisk.present.words.audit import terms_of
from reidrisk.present.words.verdict import verdict
from reidrisk.report import charts, exposed, sentences, sure, tables
from reidrisk.report.figures import Figure, drawn
from reidrisk.report.findings import mood
from reidrisk.report.phrases import attack_label, epochs, frequency, interval


@dataclass(frozen=True)
class Tile:
    """A number to read at a glance."""

    title: str
    value: str
    note: str
    kind: str


def write(result: AuditResult, path: str | Path) -> None:
    """Write the report of an audit as one HTML file; an interrupted run leaves the old file or none."""
    save(render(result), path)


def render(result: AuditResult) -> str:
    """Return the report of an audit as the text of one HTML file.

    The file holds the scripts that draw its charts once, makes no request to any network (its own security
    policy forbids it), and is made of aggregates only.
    """
    # A result may come with per-user risks in memory; none of them gets near the page.
    result = replace(result, risks=tuple(Risk.from_dict(risk.to_dict()) for risk in result.risks))
    figures = _figures(result)
    return filled(
        "report.html",
        {name: figure.specs for name, figure in figures.items() if figure},
        version=result.versions.get("reidrisk", ""),
        result=result,
        strongest=result.strongest,
        mood=mood(result.strongest) if result.truth_doubt is None else "unsure",
        subject=sentences.subject(result),
        verdict=_emphasised(verdict(result, terms_of(result))),
        news=sentences.news(result),
        tiles=_tiles(result),
        gate_sentence=sentences.gate_sentence(result),
        figures=figures,
        differences=sentences.paired(result),
        bounds_summary=sentences.bounds_summary(result),
        bounds=tables.bound_table(result.bounds, result.risks) if result.bounds else None,
        spread_left_out=exposed.spread_left_out(result.exposure) if result.exposure else "",
        thresholds=result.exposure and exposed.threshold_table(result.exposure, float(result.spec.get("level", 0.95))),
        groups_summary=exposed.groups_summary(result.exposure, result.choosy_epochs, terms_of(result))
        if result.exposure
        else [],
        groups=result.exposure and exposed.group_table(result.exposure, result.choosy_epochs, terms_of(result)),
        groups_left_out=exposed.groups_left_out(result.exposure) if result.exposure else "",
        limits=sentences.LIMITS,
        attacks={attack_label(name): text for name, text in result.descriptions.items()},
        level=percent(float(result.spec.get("level", 0.95))),
        spec_json=json.dumps(result.spec, indent=2),
        seconds=two_digits(result.timing.seconds) if result.timing else "",
        silent=sure.silent(result),
    )


def _figures(result: AuditResult) -> dict[str, Figure | None]:
    """Return the figures; ``None`` where this result has nothing to draw."""
    growth = exposure = choosiness = None
    if result.risks or tightest_by_epochs(result.bounds):
        growth = drawn(
            "growth",
            "Risk by number of epochs",
            sentences.around_growth(result, charts.growth_scale(result)),
            partial(charts.growth, result),
            tables.growth_table(result),
        )
    if result.exposure is not None and result.strongest is not None and len(result.exposure.histogram) > 1:
        exposure = drawn(
            "exposure",
            "People by their risk",
            exposed.around_exposure(result.exposure, result.strongest.attack, result.strongest.n_epochs),
            partial(charts.exposure, result.exposure),
            exposed.exposure_table(result.exposure),
        )
    if len(result.choosiness) > 1 or (result.choosiness and not result.risks):
        choosiness = drawn(
            "choosiness",
            "Links of a choosy attacker",
            sure.around_choosiness(result),
            partial(charts.choosiness, result),
            tables.choosiness_table(result),
        )
    perspective = drawn(
        "perspective",
        "In perspective",
        sentences.around_perspective(result),
        partial(charts.perspective, result),
        tables.perspective_table(result),
    )
    return {"growth": growth, "exposure": exposure, "choosiness": choosiness, "perspective": perspective}


def _tiles(result: AuditResult) -> list[Tile]:
    """Return the strongest row's right, wrong and missing links; or, without truth, how sure the attack is, checked."""
    risk = result.strongest
    if risk is not None:
        always = "" if risk.abstained else "the attack always answers"
        about = interval(risk.rate, risk.low, risk.high) or "exact"
        where = f"; {attack_label(risk.attack)}, {epochs(risk.n_epochs)}"
        return [
            Tile("Correct links", frequency(risk.rate), about + where, "correct"),
            Tile("Wrong links", frequency(risk.incorrect), _wrong_interval(risk), "wrong"),
            Tile("No answer", frequency(risk.abstained), always, "none"),
        ]
    chosen = [point for point in result.choosiness if point.threshold in (0.5, 0.9, 0.99)]
    return [
        Tile(f"At least {100 * point.threshold:g} in 100 sure", frequency(point.answered), "of records", "none")
        for point in chosen
    ]


def _wrong_interval(risk: Risk) -> str:
    # Only where every record gets an answer does the interval of the right links fix that of the wrong ones.
    if risk.abstained:
        return ""
    return "all the others" if risk.incorrect >= 0.995 else interval(risk.incorrect, 1.0 - risk.high, 1.0 - risk.low)


def _emphasised(sentence: Sentence) -> Any:
    """Return the sentence as HTML, the number that matters most in bold."""
    strong = f'<strong class="kept">{escape(sentence.strong)}</strong>' if sentence.strong else ""
    return marked(f"{kept(sentence.before)}{strong}{kept(sentence.after)}")
