"""Sentences about browsing histories that were replayed through the Topics API."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reidrisk.present.terms import Terms
from reidrisk.present.words import percent, reads

if TYPE_CHECKING:
    from reidrisk.topics.histories.replay import Replay


@reads("Replay")
def _replay(found: Replay, terms: Terms) -> str:
    real = 1.0 - found.n_padding / found.top_sets.tokens.size
    return (
        f"{percent(found.visits.shares['topics'])} of {found.visits.n:,} visits have a topic, and they fill "
        f"{percent(real)} of the places in the top sets of {len(found.top_sets):,} users in {found.epochs.n} epochs; "
        f"the rest is random padding. {percent(found.n_idle / found.active.size)} of the sets are of epochs without "
        "a single visit."
    )
