"""Results of audits, built by hand: every case the report must be able to show."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from reidrisk.audit import AuditResult, AuditSpec, ProbabilityCheck, Published, ThresholdCheck, Timing, gate
from reidrisk.base.notes import Note
from reidrisk.base.results import Bound, Difference, Risk
from reidrisk.measure import Choosiness, Exposure, Group

COUNTS = (1, 2, 4, 8)
RATES = {
    "Hamming": (0.00006, 0.0003, 0.0034, 0.021),
    "WeightedHamming": (0.00012, 0.0008, 0.0072, 0.042),
}
THRESHOLDS = (0.0, 0.001, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)


def check_chart(chart: Any, width: int) -> None:
    """Check that a chart in a browser is large enough, within the page, and has marks with a size, not only axes."""
    box = chart.locator("svg").bounding_box()
    assert box["width"] > 250
    assert box["height"] > 60
    assert box["x"] + box["width"] <= width
    marks = chart.locator("svg .mark-symbol path, svg .mark-rect path, svg .mark-line path").all()
    assert any(mark.bounding_box() for mark in marks)


def understood(name: str, **more: Any) -> Note:
    """Return how a log of purchases was understood; what differs is said."""
    usual = {"kind": "log", "user": "CustomerID", "items": ["StockCode"], "amount": None, "place": []}
    return Note("understood-as", name=name, **usual | {"times": "times", "proof": "", "unused": []} | more)


def risk(attack: str, n_epochs: int, rate: float, **changes: Any) -> Risk:
    values: dict[str, Any] = {
        "rate": rate,
        "low": 0.9 * rate,
        "high": min(1.0, 1.1 * rate),
        "incorrect": 1.0 - rate,
        "abstained": 0.0,
        "baseline": 1e-5,
        "n_targets": 100_000,
        "n_queries": 20_000,
        "attack": attack,
        "n_epochs": n_epochs,
    }
    return Risk(**(values | changes))


def bounds() -> tuple[Bound, ...]:
    found = []
    for r, best, ldp in zip(COUNTS, (0.004, 0.06, 0.4, 0.97), (0.02, 0.3, 5.0, 900.0), strict=True):
        found += [
            Bound(
                name="optimal attacker",
                setting="random user",
                value=best,
                baseline=1e-5,
                reference="carey, Corollary 1",
                inputs={"outputs": 349.0**r},
                n_epochs=r,
            ),
            Bound(
                name="local differential privacy",
                setting="random user",
                value=ldp,
                baseline=1e-5,
                reference="carey, Lemma 3",
                inputs={"epsilon": 7.2 * r, "delta": 0.0},
                n_epochs=r,
                notes=(Note("periods-independent"),),
            ),
            Bound(
                name="distinct representations",
                setting="matching",
                value=best**0.5,
                baseline=1e-5,
                reference="carey, Lemma 4",
                n_epochs=r,
            ),
        ]
    return tuple(found)


def exposure() -> Exposure:
    return Exposure(
        n=20_000,
        above={"1": 0.055, "10": 0.048, "50": 0.041, "90": 0.03},
        histogram=(
            (0.0, 0.001, 0.93),
            (0.001, 0.01, 0.015),
            (0.01, 0.1, 0.007),
            (0.1, 0.2, 0.0),
            (0.2, 0.5, 0.007),
            (0.5, 0.9, 0.011),
            (0.9, 1.0, 0.03),
        ),
        groups=(
            Group(
                "rarest-item",
                "below-0.001",
                9000,
                0.06,
                0.055,
                0.065,
            ),
            Group(
                "rarest-item",
                "0.001-to-0.01",
                11_000,
                0.02,
                0.017,
                0.023,
            ),
            Group("periods-observed", "8", 20_000, 0.042, 0.039, 0.045),
        ),
        min_group=20,
        hidden_groups=1,
    )


def choosiness(truth: bool = True) -> tuple[Choosiness, ...]:
    points = []
    for threshold in THRESHOLDS:
        correct = 0.042 * (1 - threshold) ** 0.5
        answered = correct + 0.958 * (1 - threshold) ** 6 if threshold < 0.95 else correct
        points.append(
            Choosiness(threshold, answered, correct if truth else None, answered - correct if truth else None)
        )
    return tuple(points)


def published(**changes: Any) -> AuditResult:
    """Return the normal case: two attacks, four numbers of epochs, bounds, exposure, probabilities."""
    risks = tuple(
        risk(attack, r, rate) for i, r in enumerate(COUNTS) for attack in RATES for rate in [RATES[attack][i]]
    )
    spec = AuditSpec(inputs=Published(), system="topics", seed=7, sample=20_000)
    values: dict[str, Any] = {
        "spec": spec.model_dump(mode="json"),
        "n_targets": 100_000,
        "n_queries": 100_000,
        "n_scored": 20_000,
        "n_strangers": 0,
        "n_unasked": 0,
        "n_epochs": 8,
        "epochs": COUNTS,
        "epochs_skipped": (),
        "n_tokens": 349,
        "seed": 7,
        "risks": risks,
        "lower_ends": tuple(risk.low for risk in risks),
        "differences": (
            Difference(
                attack="WeightedHamming",
                other="Hamming",
                n_epochs=8,
                difference=0.021,
                low=0.019,
                high=0.023,
                level=0.95,
                n_queries=20_000,
            ),
        ),
        "bounds": bounds(),
        "exposure": exposure(),
        "choosiness": choosiness(),
        "choosy_attack": "WeightedHamming",
        "choosy_epochs": 8,
        "n_choosy": 10_000,
        "rehearsals": (),
        "truth": "rows",
        "truth_check": "passed",
        "truth_doubt": None,
        "notes": (Note("truth", origin="rows"), Note("closed-world")),
        "descriptions": {"Hamming": "Counts agreements.", "WeightedHamming": "Weighs each agreement by its rarity."},
        "gate": None,
        "versions": {"reidrisk": "0.1.0", "numpy": "2.4.0", "python": "3.11.7"},
        "timing": Timing("2026-11-15", 12.3),
    }
    if "risks" in changes:
        values["lower_ends"] = tuple(risk.low for risk in changes["risks"])
    return AuditResult(**(values | changes))


def one_rate(rate: float, low: float, high: float, n: int = 100_000, **changes: Any) -> AuditResult:
    """Return an audit of one attack at one epoch, among n people."""
    only = risk("Hamming", 1, rate, low=low, high=high, n_targets=n, baseline=1.0 / n, n_queries=min(n, 20_000))
    values: dict[str, Any] = {
        "risks": (only,),
        "differences": (),
        "bounds": (),
        "n_epochs": 1,
        "epochs": (1,),
        "n_targets": n,
        "n_queries": n,
        "n_scored": min(n, 20_000),
        "choosiness": (),
        "choosy_attack": None,
        "exposure": dataclasses.replace(exposure(), groups=(), hidden_groups=3),
        "descriptions": {"Hamming": "Counts agreements."},
    }
    return published(**(values | changes))


def no_truth(**changes: Any) -> AuditResult:
    """Return an audit of tables that share no ids."""
    values: dict[str, Any] = {
        "risks": (),
        "differences": (),
        "exposure": None,
        "truth": None,
        "choosiness": tuple(point for point in choosiness(truth=False) if point.threshold in (0.5, 0.9)),
        "rehearsals": rehearsals(),
    }
    return published(**(values | changes))


def rehearsals(passed: bool = True) -> tuple[ProbabilityCheck, ...]:
    """Return the check of Weighted Hamming's probabilities: they held, or did not."""
    right = {0.5: 0.71, 0.9: 0.94} if passed else {0.5: 0.05, 0.9: 0.07}
    points = tuple(
        ThresholdCheck(t, 0.3, stated, right[t], right[t] - 0.02, right[t] + 0.02, 0.0, passed)
        for t, stated in ((0.5, 0.72), (0.9, 0.95))
    )
    return (ProbabilityCheck("WeightedHamming", 2_000, 4, points),)


def with_gate(max_risk: float) -> AuditResult:
    """Return the normal case held to a limit."""
    result = published()
    return dataclasses.replace(result, gate=gate(result, max_risk))


def hostile() -> AuditResult:
    """Return a result whose file names, attack and readings try to be HTML."""
    evil = "</script><script>alert(1)</script><img src=x onerror=alert(2)>{{ 7*7 }}"
    inputs = {"kind": "tables", "targets": f"{evil}.csv", "queries": "b.csv", "truth": None}
    result = published(spec=published().spec | {"inputs": inputs})
    evil_risks = tuple(dataclasses.replace(risk, attack=evil) for risk in result.risks if risk.attack == "Hamming")
    return dataclasses.replace(
        result,
        risks=evil_risks,
        lower_ends=tuple(risk.low for risk in evil_risks),
        descriptions={evil: evil},
        notes=(Note("own-words", holds=evil, otherwise=evil),),
        choosy_attack=evil,
        versions={evil: evil},
        bounds=tuple(dataclasses.replace(bound, name=evil) for bound in result.bounds),
    )


CASES = {
    "normal": published(),
    "one epoch, one attack": one_rate(0.2, 0.18, 0.22),
    "one epoch, bounds": one_rate(0.002, 0.001, 0.003, bounds=bounds()[:3]),
    "one attack": published(
        risks=tuple(risk("Hamming", r, x) for r, x in zip(COUNTS, RATES["Hamming"], strict=True)), differences=()
    ),
    "no truth": no_truth(),
    "no truth, no probabilities, no bounds": no_truth(choosiness=(), choosy_attack=None, rehearsals=(), bounds=()),
    "no truth, nothing confirmed": no_truth(choosiness=(), choosy_attack=None, rehearsals=rehearsals(passed=False)),
    "no bounds": published(bounds=()),
    "only matching bounds": published(bounds=tuple(b for b in bounds() if b.setting == "matching")),
    "no bound says anything": published(bounds=tuple(dataclasses.replace(b, value=1.0) for b in bounds())),
    "zero rate": one_rate(0.0, 0.0, 0.00018),
    "zero rates growing": published(
        risks=tuple(
            risk("Hamming", r, x, low=0.0, high=x + 2e-4) for r, x in zip(COUNTS, (0.0, 0.0, 0.001, 0.01), strict=True)
        ),
        differences=(),
    ),
    "rate 1": one_rate(1.0, 0.97, 1.0),
    "all certain": published(risks=tuple(risk("Hamming", r, 1.0, low=1.0, high=1.0) for r in COUNTS), differences=()),
    "like guessing": one_rate(0.00001, 0.0, 0.00002),
    "four people": one_rate(0.5, 0.07, 0.93, n=4),
    "two people": one_rate(1.0, 0.16, 1.0, n=2),
    "one person": one_rate(1.0, 0.025, 1.0, n=1),
    "with no answers": published(
        risks=tuple(risk("Hamming", r, 0.02, abstained=0.5, incorrect=0.48) for r in COUNTS), differences=()
    ),
    "gate passes": with_gate(0.05),
    "gate fails": with_gate(0.01),
    "gate undecided": with_gate(0.042),
    "gate of zero": with_gate(0.0),
    "gate without truth": no_truth(spec=published().spec | {"max_risk": 0.03}),
    "no noise at all": published(
        bounds=tuple(dataclasses.replace(b, value=math.inf, inputs={"epsilon": math.inf}) for b in bounds()[:6])
    ),
    "another system": published(spec=published().spec | {"system": "other"}),
    "hostile": hostile(),
}


def two_questions() -> AuditResult:
    """Return a shop's log with ten numbers of purchases, long names, a question with facts beside it, and a warning."""
    counts = (1, 2, 4, 8, 16, 32, 64, 128, 256, 7_000)
    rates = (0.02, 0.06, 0.1, 0.15, 0.21, 0.27, 0.3, 0.33, 0.34, 0.28)
    names = ("ProfileBayes", "TfIdf", "Hellinger", "NaiveBayes", "BM25")
    people = {"n_targets": 4_000, "n_queries": 3_000, "baseline": 1 / 4_000}
    grown = tuple(
        risk(name, n, rate / (1 + place), **people)
        for n, rate in zip(counts, rates, strict=True)
        for place, name in enumerate(names)
    )
    known = tuple(risk(name, n, rate, **people) for n, rate in ((1, 0.06), (2, 0.2), (4, 0.31)) for name in names[:3])
    read = understood(
        "/somewhere/a_rather_long_name_of_an_export_of_sales_in_the_year_2024_final_version_2.csv",
        time="InvoiceDate",
        amount="Quantity",
        unused=[f"column_{i}" for i in range(12)],
    )
    spread = dataclasses.replace(
        exposure(),
        n=3_000,
        groups=(
            Group("items-held", "1-12", 1_000, 0.02, 0.01, 0.03),
            Group("items-held", "13-", 2_000, 0.4, 0.38, 0.42),
            Group("holds-item", "SET OF 20 VINTAGE CHRISTMAS NAPKINS, RED AND WHITE, WITH A BOX", 90, 0.6, 0.5, 0.7),
        ),
    )
    values: dict[str, Any] = {
        "spec": AuditSpec(seed=7, level=0.95).model_dump(mode="json"),
        "n_targets": 4_000,
        "n_queries": 3_000,
        "n_scored": 3_000,
        "n_tokens": 3_877,
        "differences": (),
        "bounds": (),
        "exposure": spread,
        "kind": "bags",
        "descriptions": dict.fromkeys(names, "Compares records."),
        "n_questions": 2,
        "notes": (read, Note("closed-world"), Note("order-tells", correlation=0.97, n=3_000, by="rows")),
    }

    def answer(risks: tuple[Risk, ...], **changes: Any) -> AuditResult:
        asked = tuple(dict.fromkeys(one.n_epochs for one in risks))
        ends = {"epochs": asked, "n_epochs": asked[-1], "choosy_epochs": asked[-1]}
        return published(**values | ends | {"risks": risks, "lower_ends": tuple(one.low for one in risks)} | changes)

    facts = answer(known, axis="facts", scenario=Note("scenario-knows", facts=4, errors=0.0, which="random"))
    return answer(grown, axis="items", scenario=Note("scenario-split", by="time"), also=(facts,))


MORE = {"two questions": two_questions()}
"""Cases whose pages have other sections."""
