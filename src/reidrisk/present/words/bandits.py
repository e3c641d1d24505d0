"""Sentences about shared behaviour: regret, de-anonymisation and the trade-off between the two."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reidrisk.base import Note, Risk
from reidrisk.present.terms import Terms
from reidrisk.present.words import in_words, percent, phrase, range_in_words, reads, says, table, two_digits

if TYPE_CHECKING:  # sentences are made where pydantic is not installed, too
    from reidrisk.bandits import Regret, RegretDifference, Tradeoff, TradeoffPoint

_RECEIVED = table("strategies")


def strategy_label(strategy: str) -> str:
    """Write a strategy for people.

    >>> strategy_label("own"), strategy_label("neighbour:2"), strategy_label("clusters:14"), strategy_label("svd:3")
    ("one's own record", 'second neighbour', '14 clusters', 'svd:3')
    """
    word, _, value = strategy.partition(":")
    if word == "clusters" and value.isdigit():
        return f"{value} clusters"
    if word == "microaggregation" and value.isdigit():
        return f"groups of {value} or more"
    return _RECEIVED.get(strategy, strategy)


def amount_text(point: TradeoffPoint) -> str:
    """Write how much noise was put on top."""
    if point.noise == "svd":
        return f"rank {point.amount:g}"
    return f"variance {point.amount:g}" if point.amount else "no noise"


def choice_text(point: TradeoffPoint) -> str:
    """Write a choice: what everyone receives, and what was put on top."""
    return f"{strategy_label(point.strategy)} with {amount_text(point)}"


@reads("Tradeoff")
def _tradeoff(found: Tradeoff, terms: Terms) -> str:
    front = found.front(found.attack)
    safe, cheap = (_measured(point, found.attack) for point in (front[0], front[-1]))
    guess = f"a guess finds {percent(found.guess)}"
    if safe == cheap:
        return f"One choice is best in both: {safe}; {guess}."
    return f"{len(front)} of {len(found.points)} choices are Pareto-optimal, from {safe} to {cheap}; {guess}."


def _measured(point: TradeoffPoint, attack: str) -> str:
    from reidrisk.bandits.tradeoff import risk_of

    found, lost = percent(risk_of(point, attack).rate), two_digits(point.regret.mean)
    return f"{choice_text(point)} ({found} found, regret {lost})"


def stronger_attacker(found: Tradeoff) -> str:
    """Say where the scoreboard makes a Pareto-optimal choice look safer than it is; empty where it does not.

    Where choices are judged by the stronger attack, its success is what is shown anyway.
    """
    worse = [
        (p.likelihood.rate - p.risk.rate, p, p.likelihood.rate)
        for p in (found.front() if found.attack == "scoreboard" else ())
        if p.likelihood is not None and p.likelihood.low > p.risk.high
    ]
    if not worse:
        return ""
    _, point, rate = max(worse, key=lambda each: each[0])
    return (
        f"Careful: for {choice_text(point)}, the scoreboard finds {percent(point.risk.rate)}, but an attacker who "
        f"knows how the records were changed finds {percent(rate)}."
    )


@reads("Regret")
def _regret(found: Regret, terms: Terms) -> str:
    share = two_digits(100 * found.mean / found.baseline) if found.baseline else "0"
    return phrase("bandits.regret", terms, found=found, share=share)


@reads("RegretDifference")
def _difference(found: RegretDifference, terms: Terms) -> str:
    if found.low <= 0.0 <= found.high:
        return "These runs show no difference between the two."
    more = "more" if found.difference > 0 else "less"
    return f"The first loses {two_digits(abs(found.difference))} {more} per run than the second."


def linkage_reading(risk: Risk, cells: int) -> str:
    """Say how often an attacker who knows some cells of a record finds its owner."""
    start = "No better than a guess: an" if risk.low <= risk.baseline else "An"
    return (
        f"{start} attacker who knows {cells} cells of a record finds its owner in {in_words(risk.rate)} cases "
        f"({range_in_words(risk.rate, risk.low, risk.high)}); guessing finds {in_words(risk.baseline)}."
    )


@says("log-read")
def _log(note: Note, terms: Terms) -> str:
    stay = f"one {note['unit']}" if isinstance(note["unit"], str) else f"{note['unit']:g} seconds"
    read = f"The activity log {note['name']} has {note['entries']:,} entries"
    return f"{read}; a stay of {stay} counts as much as one transition."
