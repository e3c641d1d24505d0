"""Coverage: how much of what was given could be classified, reported with every answer."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

_STATUS = ("topics", "no topic", "unknown", "not a host")


@dataclass(frozen=True)
class Coverage:
    """How many of the given hosts the list speaks of; the four counts add up to ``n``.

    Examples
    --------
    >>> Coverage(n=4, topics=1, no_topic=1, unknown=2, not_a_host=0, by_ancestor=1).shares
    {'topics': 0.25, 'no topic': 0.25, 'unknown': 0.5, 'not a host': 0.0}
    """

    n: int
    topics: int
    """Listed with at least one topic."""
    no_topic: int
    """Listed with an empty list: known to have no topic."""
    unknown: int
    """Not listed, nor any ancestor."""
    not_a_host: int
    """Counted only with ``invalid="count"``; refused otherwise."""
    by_ancestor: int
    """Of the listed: those found only by the name of an ancestor, as ``mail.a.com`` by ``a.com``."""
    by_model: int = 0
    """Of those with topics or known to have none: those that are not listed and that a model was asked about."""

    @property
    def shares(self) -> dict[str, float]:
        """Share of each answer among the ``n``; all zero when nothing was given."""
        counts = (self.topics, self.no_topic, self.unknown, self.not_a_host)
        return {name: count / max(self.n, 1) for name, count in zip(_STATUS, counts, strict=True)}

    def to_dict(self) -> dict[str, Any]:
        """Return counts and shares for JSON."""
        return {**asdict(self), "shares": self.shares}

    def __str__(self) -> str:
        parts = [f"{share:.1%} {name}" for name, share in self.shares.items() if name != "not a host" or share]
        guessed = f" ({self.by_model / self.n:.1%} by the model)" if self.by_model else ""
        return f"{self.n:,} hosts: {', '.join(parts)}{guessed}"
