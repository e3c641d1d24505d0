"""The default engine: this process, on its threads or its GPU."""

from __future__ import annotations

from typing import Any

from reidrisk.base.arrays import Ints
from reidrisk.base.progress import Progress
from reidrisk.search.answer import Best, Candidates
from reidrisk.search.engines.base import Scorer, Targets


class LocalEngine:
    """Asks the scorer for all targets at once; ``progress`` hears how far the search for the best is."""

    def __init__(self, progress: Progress | None = None) -> None:
        self.progress = progress

    def best(self, scorer: Scorer, targets: Targets, queries: Any) -> Best:
        """Return the scorer's answer."""
        return scorer.best(targets, queries, self.progress)

    def candidates(self, scorer: Scorer, targets: Targets, queries: Any, k: int) -> Candidates:
        """Return the scorer's answer."""
        return scorer.candidates(targets, queries, k)

    def total(self, scorer: Scorer, targets: Targets, queries: Any, score: Ints) -> Ints:
        """Return the scorer's answer."""
        return scorer.total(targets, queries, score)
