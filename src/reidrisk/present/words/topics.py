"""Sentences about browsing histories that were replayed through the Topics API."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reidrisk.present.terms import Terms
from reidrisk.present.words.frequencies import percent
from reidrisk.present.words.register import reads, say

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


_ADDS_NOTHING = "A visit to a host that is unknown or has no topic adds nothing"

say(
    {
        "every-page-calls": "A visit adds one to every topic of its host, whoever is on the page: every page is taken "
        "to call the API.",
        "unlisted-unknown": f"{_ADDS_NOTHING}; Chrome would ask its model.",
        "unlisted-modelled": f"{_ADDS_NOTHING}; hosts that are not listed were put to a model, which may be wrong.",
        "idle-padded": "A browser without a visit in an epoch still holds a set for it, all padding and the same for "
        "every observer: random topics, by which it can be recognised.",
        "times-in-utc": "Times without a zone are UTC, and epochs begin at the same moment for all users.",
        "epochs-overlap": "Epochs overlap: a visit counts in several, so their sets are not independent.",
        "only-active-kept": "Only users with a visit in every epoch were kept: the active ones.",
    }
)
