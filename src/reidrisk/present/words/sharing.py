"""Sentences about the sharing service: what it hands out now, to the administrator; and what an adversary got of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reidrisk.present import Sentence, Terms
from reidrisk.present.words import in_words, range_in_words, reads, table
from reidrisk.present.words.bandits import strategy_label

if TYPE_CHECKING:
    from reidrisk.bandits import AdversaryResult

STATES = table("states")  # how the state of an agent's record reads


def now(told: dict[str, Any]) -> Sentence:
    """Say what the service hands out at the moment, and how risky that is."""
    if told["status"] == "failed":
        return Sentence("", "Nothing is handed out", ": the last rebuild failed. The log of the service says where.")
    if not told["groups"]:
        few = f"no {told['minimum_group']} newcomers are there to be put together"
        return Sentence("", "Nothing is handed out yet", f": {few}.")
    rate, low, high = _strongest(told["risk"])
    found = f"An attacker who collects every matrix finds {range_in_words(rate, low, high)} members"
    if told["status"] == "refused":
        limit = f"the upper end is above the limit of {in_words(told['max_risk'])}"
        return Sentence("", "Nothing is handed out", f": {limit}. {found}.")
    guess = f"; a guess finds {in_words(told['risk']['guess'])}."
    return Sentence("An attacker who collects every matrix finds ", range_in_words(rate, low, high), f" members{guess}")


def _strongest(risk: dict[str, Any]) -> tuple[float, float, float]:
    found = [risk[name] for name in ("scoreboard", "likelihood") if name in risk]
    if not found:
        return 0.0, 0.0, 1.0
    strongest = max(found, key=lambda one: one["high"])
    return strongest["rate"], strongest["low"], strongest["high"]


def handed_out(told: dict[str, Any]) -> str:
    """Say which strategy is served, and who is behind a matrix."""
    received = strategy_label(told["strategy"].partition("+")[0])
    return f"Everyone receives: {received} ({told['strategy']}), at least {told['minimum_group']} members each."


@reads("AdversaryResult")
def _adversary(found: AdversaryResult, terms: Terms) -> str:
    asked = f"{found.answered:,} of {found.guises:,} guises were answered"
    got = f"{found.collected:,} different {'matrix' if found.collected == 1 else 'matrices'}"
    risk = found.strongest
    if risk is None:
        return f"{asked}, with {got}; without the truth, how many links are right is not known."
    linked = range_in_words(risk.rate, risk.low, risk.high)
    return f"{asked}, with {got}; {linked} members are found by them, {in_words(risk.baseline)} by guessing."
