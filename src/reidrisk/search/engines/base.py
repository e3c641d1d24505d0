"""What an engine must do, and what a scorer must keep to so that every engine gives the same answer."""

from __future__ import annotations

from typing import Any, Protocol, Self

import numpy as np
import numpy.typing as npt

from reidrisk.base.progress import Progress
from reidrisk.search.answer import Best


class Targets(Protocol):
    """Targets that can be cut into shards."""

    def __len__(self) -> int: ...

    def take(self, rows: npt.NDArray[np.int64], /) -> Self:
        """Return the chosen rows, in that order."""
        ...


class Scorer(Protocol):
    """What an attack has learnt from all targets: frozen, and small beside them.

    The score of a query and a target must depend on the two and on the scorer alone, never on the other targets or
    queries. Then the answers for shards of the targets, put together by :func:`reidrisk.search.merged`, are the answer
    for all of them: best score, ties added up where it is shared, lowest target.
    """

    def best(self, targets: Any, queries: Any, progress: Progress | None = None) -> Best:
        """Find best score, number of ties and lowest tied target of each query among these targets."""
        ...


class Engine(Protocol):
    """Finds the best targets of queries, wherever that is done."""

    def best(self, scorer: Scorer, targets: Targets, queries: Any) -> Best:
        """Return what ``scorer.best(targets, queries)`` does."""
        ...
