"""What the report shows of a result: lines of attacks, how good the news is, what to compare with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from reidrisk.audit import AuditResult
from reidrisk.base.results import Risk
from reidrisk.report.phrases import frequency, interval

_FEW = 0.01
"""A rate whose whole interval lies below this is called low: fewer than 1 in 100."""

Mood = Literal["calm", "plain", "unsure"]


@dataclass(frozen=True)
class PublishedFigure:
    """A rate printed in a paper; ``below`` where the paper says only that it is less."""

    label: str
    rate: float
    below: bool
    n_targets: int
    n_epochs: int
    source: str


PUBLISHED = (
    PublishedFigure(
        "Published, real users",
        0.03,
        True,
        10_000_000,
        8,
        "Carey et al., A new framework for measuring re-identification risk, Figure 2",
    ),
    PublishedFigure(
        "Published, real users",
        0.01,
        True,
        10_000_000,
        4,
        "Dick et al., Differentially private synthetic data release for Topics API outputs, Section 6.1.3",
    ),
    PublishedFigure(
        "Published, simulated users",
        0.25,
        False,
        1_000,
        30,
        "Jha et al., Re-identification attacks against the Topics API, Section 6.1; another attack did better there",
    ),
)
"""Figures for the Topics API as printed; they differ in population, number of epochs and attack."""


@dataclass(frozen=True)
class Compared:
    """One row of the comparison: a rate, exact, with an interval or only an upper limit."""

    label: str
    short: str
    rate: float
    low: float
    high: float
    kind: Literal["known", "measured", "published"]
    below: bool = False
    note: str = ""

    @property
    def text(self) -> str:
        """The rate in words: exact, with its interval, or as the paper prints it."""
        if self.kind == "published":
            return f"{'below' if self.below else 'about'} {frequency(self.rate)}"
        about = interval(self.rate, self.low, self.high)
        return frequency(self.rate) + (f" ({about})" if about else "")


def lines(result: AuditResult) -> dict[str, list[Risk]]:
    """Return the risks of each attack by growing number of epochs, the strongest attack first."""
    found: dict[str, list[Risk]] = {}
    for risk in sorted(result.risks, key=lambda risk: risk.n_epochs):
        found.setdefault(risk.attack, []).append(risk)
    order = sorted(found, key=lambda attack: (-found[attack][-1].n_epochs, -found[attack][-1].rate))
    return {attack: found[attack] for attack in order}


def mood(risk: Risk | None) -> Mood:
    """Say how good the news is, from the whole interval and not from the rate alone.

    ``calm`` where the risk is low or at the level of blind guessing, ``unsure`` where the measurement is too
    small to tell the attack from guessing, ``plain`` otherwise.

    Examples
    --------
    >>> def of(rate, low, high, baseline=0.001):
    ...     return mood(Risk(rate, low, high, 1 - rate, 0.0, baseline, n_targets=1000, n_queries=1000))
    >>> of(0.002, 0.001, 0.004), of(0.3, 0.27, 0.33), of(0.5, 0.07, 0.93, baseline=0.25), of(0.0, 0.0, 0.6, 0.25)
    ('calm', 'plain', 'unsure', 'unsure')
    """
    if risk is None:
        return "unsure"
    if risk.high <= _FEW or (risk.low <= risk.baseline and risk.high <= min(2.0 * risk.baseline, 1.0)):
        return "calm"
    return "unsure" if risk.low <= risk.baseline else "plain"


def compared(result: AuditResult) -> list[Compared]:
    """Return the rows of the comparison, the best known first."""
    everyone = "Third-party cookie"
    rows = [Compared(everyone, everyone, 1.0, 1.0, 1.0, "known", note="the same identifier at every site")]
    risk = result.strongest
    if risk is not None:
        label = f"This data ({_sizes(risk.n_targets, risk.n_epochs)})"
        note = "strongest attack of this audit"
        rows.append(Compared(label, "This data", risk.rate, risk.low, risk.high, "measured", note=note))
    guess = 1.0 / result.n_targets if risk is None else risk.baseline
    label = f"Blind guessing (among {result.n_targets:,} people)"
    rows.append(Compared(label, "Blind guessing", guess, guess, guess, "known", note="one in the number of people"))
    if result.spec.get("system") == "topics":
        for figure in PUBLISHED:
            sizes = _sizes(figure.n_targets, figure.n_epochs)
            label, short, rate = f"{figure.label} ({sizes})", f"Published ({sizes})", figure.rate
            rows.append(Compared(label, short, rate, rate, rate, "published", figure.below, figure.source))
    return rows


def _sizes(n_targets: int, n_epochs: int) -> str:
    millions, rest = divmod(n_targets, 1_000_000)
    many = f"{millions} million" if millions and not rest else f"{n_targets:,}"
    return f"{many} people, {n_epochs} epoch{'s' if n_epochs != 1 else ''}"
