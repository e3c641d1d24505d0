"""The default engine: this process, on its threads or its GPU."""

from __future__ import annotations

from typing import Any

from reidrisk.base.progress import Progress
from reidrisk.search.answer import Best
from reidrisk.search.engines.base import Scorer, Targets


class LocalEngine:
    """Asks the scorer for all targets at once.

    Parameters
    ----------
    progress : callable, optional
        Hears how far the search is.
    """

    def __init__(self, progress: Progress | None = None) -> None:
        self.progress = progress

    def best(self, scorer: Scorer, targets: Targets, queries: Any) -> Best:
        """Return what ``scorer.best(targets, queries)`` does."""
        return scorer.best(targets, queries, self.progress)
