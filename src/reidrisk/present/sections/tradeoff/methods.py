"""How it was measured, where that is published, and how to run it again."""

from __future__ import annotations

from reidrisk.bandits import Tradeoff
from reidrisk.present.model import Section
from reidrisk.present.terms import Terms


def section(result: Tradeoff, terms: Terms) -> Section:
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
