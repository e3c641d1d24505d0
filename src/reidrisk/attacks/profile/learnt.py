"""What one fit of ProfileBayes has learnt: how rates are spread, and the tables of evidence that follow from it."""

import math

import numpy as np

from reidrisk.attacks.profile import kernel
from reidrisk.attacks.profile.counts import Counts, Ladder, by_content, count, ladder_of
from reidrisk.attacks.profile.factor import Known
from reidrisk.attacks.profile.likelihoods import build_likelihoods, deepest
from reidrisk.attacks.profile.posterior import Posterior
from reidrisk.attacks.profile.prior import general_grid, group_tokens, learn, top_set_grid
from reidrisk.base import DataError, Ints, stream
from reidrisk.mechanisms import token_probabilities
from reidrisk.records import Traces

_LEARN_FROM = 20_000  # targets from which the prior is learnt, at most


class Learnt:
    """What was learnt from all targets, shared by an attack and those narrowed from it; a new fit makes a new one.

    Where tables cannot hold the counts (64 where the same epoch counts, 255 where it does not, fewer in a large
    vocabulary), ``every`` epochs are taken for one trial: counts, pairs and epochs are divided by it and rounded. That
    keeps what the rates are, and weighs it less; the temperature makes up for the weight. ``system`` is (top_k, noise)
    where it is known; a ``ladder`` is used instead of the targets' own.
    """

    def __init__(
        self, targets: Traces, system: tuple[int, float] | None, kinds: int, seed: int, ladder: Ladder | None = None
    ) -> None:
        self.targets = targets
        self.system = system
        self.ladder = self._fitting(kinds) if ladder is None else ladder
        self.counts = count(targets, self.ladder)
        if not len(self.counts.token):
            raise DataError("no target holds a single token; there is nothing to learn from")
        if self.system is None:
            grid = general_grid(targets.n_tokens, self.ladder.trials)
        else:
            grid = top_set_grid(*token_probabilities(targets.n_tokens, *self.system))
        # In the order of their content: neither sums of floats nor draws may depend on where a row stands.
        self.order = by_content(self.counts)
        rows = self.order
        if len(targets) > _LEARN_FROM:
            rows = rows[np.sort(stream(seed, "profile bayes targets").choice(len(targets), _LEARN_FROM, replace=False))]
        self.prior = learn(self.counts.take(rows), self.ladder, grid, kinds)
        most = deepest(self.prior.weight.shape[1], self.ladder.n_rungs, kinds, grid.same_epoch)
        # Queries may show somewhat more of a token than any target does.
        self._depth = min(most, max(4, math.ceil(1.25 * int(self.counts.count.max()))))
        self.tables = build_likelihoods(self.prior, self.ladder, self._depth, bool(self.counts.rung.any()))
        self.known = Known(self.counts, self.evidence(self.counts))
        self.posterior: Posterior | None = None

    def _fitting(self, kinds: int) -> Ladder:
        """Return the ladder on which tables hold the largest count of any target."""
        plain = ladder_of(self.targets)
        counts = count(self.targets, plain, capped=False)
        most = deepest(int(group_tokens(counts).max()) + 1, plain.n_rungs, kinds, self.system is not None)
        every = math.ceil(int(counts.count.max(initial=0)) / most)
        return plain if every <= 1 else ladder_of(self.targets, every)

    def make_room(self, asked: Counts) -> None:
        """Build tables for gaps once queries have some."""
        if asked.rung.any() and self.tables.none.shape[0] == 1:
            self.tables = build_likelihoods(self.prior, self.ladder, self._depth, gaps=True)

    def laid_out(self, targets: Traces) -> Known:
        """Return other targets, or queries, as the scorer takes them, by the same prior."""
        counts = count(targets, self.ladder)
        self.make_room(counts)
        return Known(counts, self.evidence(counts))

    def evidence(self, counts: Counts) -> Ints:
        """Return the log-probability of each record alone, on the grid."""
        t, out, sums = self.tables, np.empty(len(counts), dtype=np.int64), self.tables.none[counts.rung]
        kernel.holdings(*counts.held, counts.rung, t.group, t.alone, t.alone.shape[2] - 1, 0, sums)
        kernel.combined_rows(sums, out)
        return out
