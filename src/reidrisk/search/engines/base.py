"""What an engine must do, what a scorer must keep to so that all engines give the same answer, and the default one."""

from typing import Any, Protocol, Self

from reidrisk.base.arrays import Ints
from reidrisk.base.progress import Progress
from reidrisk.search.answer import Best, Candidates


class Targets(Protocol):
    """Targets that can be cut into shards."""

    def __len__(self) -> int: ...

    def take(self, rows: Ints, /) -> Self:
        """Return the chosen rows, in that order."""


class Scorer(Protocol):
    """What an attack has learnt from all targets: frozen, and small beside them.

    The score of a query and a target must depend on the two and on the scorer alone, never on the other targets or
    queries. Then the answers for shards of the targets are the answer for all of them, once put together: by
    :func:`reidrisk.search.merged` and :func:`reidrisk.search.merged_candidates`, or, of totals, by adding up.
    """

    def best(self, targets: Any, queries: Any, progress: Progress | None = None) -> Best:
        """Find best score, number of ties and lowest tied target of each query among these targets."""

    def candidates(self, targets: Any, queries: Any, k: int) -> Candidates:
        """Find the k best targets of each query."""

    def total(self, targets: Any, queries: Any, score: Ints) -> Ints:
        """Add up exp(score of a target - score given) over the targets, in whole steps of 1 / ``search.UNIT``.

        Only of scores that are logarithms of likelihoods: then ``per_nat`` is how many steps of them make a nat. A
        scorer may also offer ``best_and_total(targets, queries, progress)``, which returns both answers of one search.
        """


class Engine(Protocol):
    """Where the targets are searched; each verb returns what the scorer's own does for all of them."""

    def best(self, scorer: Scorer, targets: Targets, queries: Any) -> Best:
        """Find best score, number of ties and lowest tied target of each query."""

    def candidates(self, scorer: Scorer, targets: Targets, queries: Any, k: int) -> Candidates:
        """Find the k best targets of each query."""

    def total(self, scorer: Scorer, targets: Targets, queries: Any, score: Ints) -> Ints:
        """Add up the likelihoods of all targets relative to the score given for each query."""


class LocalEngine:
    """The default: this process. It asks the scorer for all targets at once; ``progress`` hears how far a search is."""

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

    def best_and_total(self, scorer: Any, targets: Targets, queries: Any) -> tuple[Best, Ints]:
        """Return best and total, by one search where the scorer has it; other engines need not offer this."""
        if hasattr(scorer, "best_and_total"):
            both: tuple[Best, Ints] = scorer.best_and_total(targets, queries, self.progress)
            return both
        found = self.best(scorer, targets, queries)
        return found, self.total(scorer, targets, queries, found.score)
