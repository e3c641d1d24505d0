"""Regret against people found: a chart for each attacker."""

from __future__ import annotations

from functools import partial

from reidrisk.bandits import Tradeoff
from reidrisk.present.model import Figure, Section
from reidrisk.present.sections.tradeoff.chart import tradeoff_chart
from reidrisk.present.terms import Terms
from reidrisk.present.words.bandits import choice_text

_TITLES = {
    "scoreboard": "Against an attacker who compares cells",
    "likelihood": "Against an attacker who knows how the records were changed",
}


def section(result: Tradeoff, terms: Terms) -> Section:
    """Return the charts, the one of the attack that choices are judged by first."""
    return Section(
        title="What protection costs",
        see="Each line is a way to put records together; along it, more noise. Low is safe, left is cheap. The choices "
        "on the yellow line are Pareto-optimal: no other has both less regret and fewer people found.",
        parts=tuple(_part(result, attack) for attack in result.attacks),
    )


def _part(result: Tradeoff, attack: str) -> Section:
    best = result.front(attack)
    alt = (
        f"Regret against de-anonymisation of {len(result.points)} choices; {len(best)} are Pareto-optimal, from "
        f"{choice_text(best[0])} to {choice_text(best[-1])}."
    )
    return Section(
        title=_TITLES[attack],
        figure=Figure(partial(tradeoff_chart, result, attack), alt),
        caution="These are measured values: choices within each other's intervals may change places.",
        name=attack,
    )


def methods(result: Tradeoff, terms: Terms) -> Section:
    """Return the method, its reference and its parameters."""
    return Section(
        title="Methods",
        see=(
            "Regret is what a recommender by Thompson sampling loses against one that sees the state. The scoreboard "
            "links known cells to the record that agrees with most of them, weighted; the attacker who knows the "
            "mechanism links by likelihood. ADS is the share of people with a shared record nearer than anyone else's.",
            "After Galozy et al., Beyond random noise: insights on anonymization strategies from a latent bandit study "
            f"(Sections 3 to 6). {result.rewards.capitalize()} rewards, weights by {result.weights}, tolerance "
            f"{result.alpha:g}, {result.releases} draws of noise, seed {result.seed}.",
        ),
    )
