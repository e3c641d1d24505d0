"""The Topics API as the papers model it, fast: one topic per epoch and observer, noise, independent sites."""

import warnings
from dataclasses import dataclass

import numpy as np

from reidrisk.base import ArrayLike, Bools, DataError, each, from_0_to_1, frozen, of_class, sizes, whole
from reidrisk.base.streams import block_of, blocks, checked_seed, stream
from reidrisk.mechanisms.top_k_noise import token_probabilities
from reidrisk.populations.rates import BLOCK, Rates
from reidrisk.records import TopSets, Traces


@dataclass(frozen=True)
class TopicsAPI:
    """Parameters of the API (carey, Algorithm 1; jha, Section 2).

    Each epoch a browser holds a top set of k of the N topics; an observer sees one of them, or with probability p a
    uniformly random topic of the taxonomy. A first visit shows E epochs at once, see :meth:`observe`.

    >>> api = TopicsAPI(n_topics=469)
    >>> api.q_in > api.q_out
    True
    """

    n_topics: int
    top_k: int = 5
    noise: float = 0.05
    window: int = 3

    def __post_init__(self) -> None:
        token_probabilities(self.n_topics, self.top_k, self.noise)
        whole("window", self.window, unit="epochs")

    @property
    def q_in(self) -> float:
        """Probability that a given topic of the top set is shown."""
        return token_probabilities(self.n_topics, self.top_k, self.noise)[0]

    @property
    def q_out(self) -> float:
        """Probability that a given topic outside the top set is shown."""
        return token_probabilities(self.n_topics, self.top_k, self.noise)[1]

    def top_sets(self, rates: Rates, epochs: int = 30, seed: int = 0, threads: int | None = None) -> TopSets:
        """Simulate browsing: the top sets of users with these visit rates (jha, Section 5.1 and Section 2, Step 2).

        In every epoch user u visits topic t Poisson(lambda[u, t]) times, independently; the ``top_k`` most visited
        topics are the set, equals in random order. A set that is still short is filled with distinct topics drawn
        uniformly from the rest of the taxonomy, once per user and epoch: the same padding for every observer. Sets are
        full, the most visited topic first and padding last, and marked as made with a seed. More users or epochs leave
        the first ones as they are.

        >>> from reidrisk import populations
        >>> rates = populations.real([[9.0, 9.0, 0, 0, 0, 0, 0, 0, 0]] * 3)
        >>> TopicsAPI(n_topics=9, top_k=2).top_sets(rates, epochs=4)
        TopSets(3 users x 4 epochs x 2 tokens of 9)
        """
        from reidrisk.topics.visits import visit_blocks  # the compiler is loaded by those who simulate

        if not isinstance(rates, Rates):
            raise DataError(f"top_sets needs Rates, not {type(rates).__name__}; give populations.real(matrix)")
        if rates.n_topics != self.n_topics:
            raise DataError(f"the rates have {rates.n_topics} topics, but the API has {self.n_topics}")
        epochs, seed = whole("epochs", epochs), checked_seed(seed)
        sizes.CELLS.check(len(rates) * epochs * self.top_k, "simulating top sets", "simulate fewer users or epochs")
        sets = np.empty((len(rates), epochs, self.top_k), dtype=np.min_scalar_type(-self.n_topics))

        def fill(part: tuple[int, int, int]) -> None:
            block, start, stop = part
            rngs = [stream(seed, f"topics profiles epoch {epoch}", block) for epoch in range(epochs)]
            for first, last, of_block in rates.stretches(block, epochs):
                visit_blocks(of_block, rngs[first:last], sets[start:stop, first:last])

        each(fill, blocks(len(rates), BLOCK), threads)
        return TopSets(frozen(sets), self.n_topics, made_with_seed=True)

    def profiles(self, rates: Rates, epochs: int = 30, seed: int = 0, threads: int | None = None) -> TopSets:
        """Old name of :meth:`top_sets`; it works for one version."""
        warnings.warn("TopicsAPI.profiles is now TopicsAPI.top_sets", DeprecationWarning, stacklevel=2)
        return self.top_sets(rates, epochs, seed, threads)

    def expose(self, top_sets: TopSets, seed: int, site: str = "a", first: int = 0) -> Traces:
        """Draw what one observer sees: in each epoch one of the top set, or with probability p any topic.

        Given the top sets, sites are independent: streams are keyed by (seed, site), so that another site sees another
        trace of the same users. Short sets must be padded once, before any site sees them. Where the sets are a part of
        a larger population, ``first`` is the number of the first user there, who begins a block of 65,536.

        >>> sets = TopSets([[[0, 1]], [[2, 3]]], n_tokens=9)
        >>> a = TopicsAPI(n_topics=9, top_k=2, noise=0.0).expose(sets, seed=1, site="a")
        >>> a, a.tokens[0, 0] in (0, 1), a.tokens[1, 0] in (2, 3)
        (Traces(2 users x 1 epochs, 9 tokens), True, True)
        """
        of_class("what observers see", top_sets, TopSets, "TopSets")
        if top_sets.n_tokens != self.n_topics or top_sets.k != self.top_k:
            ours, theirs = f"{top_sets.k} of {top_sets.n_tokens}", f"{self.top_k} of {self.n_topics}"
            raise DataError(f"the top sets hold {ours} topics, but the API holds {theirs}")
        if not top_sets.is_padded:
            raise DataError("some top sets are not full; pad them once, for all observers: top_sets.padded(seed)")
        n, r = len(top_sets), top_sets.n_epochs
        shown = np.empty((n, r), dtype=np.min_scalar_type(-self.n_topics))
        before = block_of(first)
        for block, start, stop in blocks(n):
            rng = stream(seed, f"topics exposed to {site}", before + block)
            size = (stop - start, r)
            chosen = rng.integers(self.top_k, size=size, dtype=np.uint8 if self.top_k <= 256 else np.int64)
            real = np.take_along_axis(top_sets.tokens[start:stop], chosen[..., None].astype(np.intp), axis=2)[..., 0]
            random = rng.integers(self.n_topics, size=size)
            shown[start:stop] = np.where(rng.random(size) < self.noise, random, real)
        return Traces(frozen(shown), self.n_topics, users=top_sets.users, vocabulary=top_sets.vocabulary)

    def observe(
        self, top_sets: TopSets, seed: int, site: str = "a", visits: ArrayLike = 1.0, shown: int | None = None
    ) -> Traces:
        """Draw what one observer sees of people who do not come every week (jha, Section 2, Step 4).

        A visit while epoch e is the latest shows the topics of e - E + 1, ..., e, those of :meth:`expose`; tokens that
        no visit showed are missing. So N epochs of visits give N + E - 1 tokens (jha, footnote 10). ``visits`` is an
        (n, r) array of bool, whether each user visits the site while each epoch is the latest; or the probability of
        it, drawn for each user and epoch, keyed by (seed, site). ``shown`` is E; default: the ``window`` of the API.

        >>> sets = TopSets(np.tile([0, 1], (2, 5, 1)), n_tokens=9)
        >>> once = np.zeros((2, 5), dtype=bool)
        >>> once[0, 4] = once[1, 0] = True
        >>> TopicsAPI(n_topics=9, top_k=2, window=3).observe(sets, seed=1, visits=once).observed.astype(int).tolist()
        [[0, 0, 1, 1, 1], [1, 0, 0, 0, 0]]
        """
        n, r = len(top_sets), top_sets.n_epochs
        window = self.window if shown is None else whole("shown", shown, unit="epochs")
        came = _visits(visits, n, r, seed, site)
        full = self.expose(top_sets, seed, site)
        seen = came.copy()
        for back in range(1, min(window, r)):
            seen[:, :-back] |= came[:, back:]
        tokens = np.where(seen, full.tokens, full.tokens.dtype.type(-1))
        return Traces(frozen(tokens), self.n_topics, users=top_sets.users, vocabulary=top_sets.vocabulary)


def _visits(visits: ArrayLike, n: int, r: int, seed: int, site: str) -> Bools:
    """Return the (n, r) matrix of visits: as given, or drawn with the given probability."""
    given = np.asarray(visits)
    if given.ndim == 0 and given.dtype.kind in "iuf":
        chance = from_0_to_1("visits", float(given))
        drawn = np.empty((n, r), dtype=np.bool_)
        for block, start, stop in blocks(n):
            drawn[start:stop] = stream(seed, f"visits to {site}", block).random((stop - start, r)) < chance
        return drawn
    if given.dtype.kind != "b" or given.shape != (n, r):
        wanted = f"give one bool per user and epoch, {(n, r)}"
        raise DataError(f"visits has shape {given.shape} and type {given.dtype}; {wanted}")
    return given
