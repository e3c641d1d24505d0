"""From browsing histories to top sets: classify hosts, count topics per epoch, keep the k most visited, pad."""

import os
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from reidrisk.base import DataError, Ints, Note, OptionError, Spoken, blocks, checked_seed, sizes, stream, take_users
from reidrisk.base.arrays import Bools, Signed, UInts
from reidrisk.base.hosts import checked_observers, registrable
from reidrisk.mechanisms.top_k_noise import token_probabilities
from reidrisk.records import TopSets
from reidrisk.topics.classify import Classification, Coverage, HostClassifier
from reidrisk.topics.histories.table import Histories
from reidrisk.topics.histories.times import Epochs, Moment, moment

Words = UInts
Ties = Callable[[Ints, Ints, Ints], Words]
"""Given rows, epochs and topics: one random word for each, and of equally visited topics the smallest comes first.

Every user's ties are broken by themselves, so that nobody else's visits change them."""

_BLOCK = 4096  # users in a block: their visits are sorted together, quickest while they fit into a cache


@dataclass(frozen=True, eq=False)
class Replay(Spoken):
    """What browsers would have held for the people of a history; made by :func:`replay`."""

    top_sets: TopSets  # full sets, the most visited topic first and padding last
    epochs: Epochs
    visits: Coverage  # how many visits had a topic, none, or an unknown host
    hosts: Coverage  # the same of the distinct hosts
    n_outside: int  # visits that lie in no epoch, such as those after the last whole one
    n_padding: int  # places of the sets that hold padding
    active: Bools
    """(n, r): whether the user has a visit in the epoch; where not, the whole set is padding."""
    n_dropped: int  # users left out because they have no visit in some epoch
    only_active: bool  # whether users without a visit in some epoch were left out
    histories: Histories
    kept: Ints  # row in the histories of each user of the top sets

    def visits_to(self, observers: Sequence[str]) -> Bools:
        """Return the (observers, n, r) visits to these sites: whether each user came while each epoch was the latest.

        A site is a registrable domain, and every host of it counts; needs the extra ``topics``. Visits before the first
        epoch has ended show nothing. Give one of the matrices to :meth:`TopicsAPI.observe`.
        """
        sites = checked_observers(observers)
        owners = registrable(self.histories.hosts, "none")
        which = np.array([sites.index(site) if site in sites else -1 for site in owners], dtype=np.int64)
        row_of = np.full(self.histories.n_users, -1, dtype=np.int64)
        row_of[self.kept] = np.arange(len(self.kept))
        site, row = which[self.histories.host], row_of[self.histories.user]
        latest = self.epochs.latest(self.histories.time)
        counts = (site >= 0) & (row >= 0) & (latest >= 0)
        came = np.zeros((len(sites), len(self.kept), self.epochs.n), dtype=np.bool_)
        came[site[counts], row[counts], latest[counts]] = True
        return came

    @property
    def n_idle(self) -> int:
        """Number of users and epochs without a single visit: their sets are all padding."""
        return int(np.count_nonzero(~self.active))

    @property
    def notes(self) -> tuple[Note, ...]:
        """What was taken for granted."""
        unlisted = Note("unlisted-modelled") if self.hosts.by_model else Note("unlisted-unknown")
        found = [Note("every-page-calls"), unlisted, Note("idle-padded"), Note("times-in-utc")]
        found += [Note("epochs-overlap")] * (self.epochs.step < self.epochs.length)
        return tuple(found + [Note("only-active-kept")] * self.only_active)

    def to_dict(self) -> dict[str, Any]:
        """Return sizes, coverage, assumptions and a reading for JSON."""
        cells = len(self.top_sets) * self.epochs.n
        return {
            "n_users": len(self.top_sets),
            "n_users_dropped": self.n_dropped,
            "n_visits": len(self.histories),
            "n_visits_outside": self.n_outside,
            "epochs": self.epochs.to_dict(),
            "coverage": {"visits": self.visits.to_dict(), "hosts": self.hosts.to_dict()},
            "padding_share": self.n_padding / (cells * self.top_sets.k),
            "idle_share": self.n_idle / cells,
            "assumptions": list(self.assumptions),
            "reading": self.reading,
        }


def replay(
    histories: Histories,
    classifier: HostClassifier,
    top_k: int = 5,
    epoch_days: float = 7,
    step_days: float | None = None,
    start: Moment | None = None,
    seed: int | None = 0,
    every_epoch: bool = False,
    high_utility: Collection[int] = (),
) -> Replay:
    """Replay browsing histories through the API: the top sets that browsers would have held (jha, Section 2).

    Every visit adds one to each topic of its host. In each epoch the ``top_k`` most visited topics are the set, equals
    in random order, padded as in :meth:`TopicsAPI.top_sets`. Then :meth:`TopicsAPI.expose` or
    :meth:`TopicsAPI.observe` draws what an observer sees. Visits to unknown hosts have no topic, and are counted.

    Epochs are those of :meth:`Epochs.spanning`. Carey, Section 6, has 7 days and steps of 3: epochs that overlap, and
    are then no longer independent; and keeps only users with a visit in ``every_epoch``. Trees of ``high_utility``
    roots rank first, see :func:`read_utility_buckets`.

    A ``seed`` of ties and padding is for simulations: the sets are marked as made with a seed, and are not released.
    With ``None``, for a release, the operating system draws each user's, and ``start`` must be given: the first visit
    of all would move everybody's epochs. How many epochs there are is then taken as public.

    >>> import polars
    >>> from reidrisk.topics import Taxonomy, histories_from_frame
    >>> classifier = HostClassifier(Taxonomy({1: "/News", 7: "/News/Weather", 4: "/Sports"}), {"rain.com": [7]})
    >>> visits = {"user": ["ann", "bob", "bob"], "timestamp": [0, 2, 13 * 86_400], "host": ["www.rain.com"] * 3}
    >>> found = replay(histories_from_frame(polars.DataFrame(visits)), classifier, top_k=1)
    >>> found.top_sets.tokens[:, 0, 0].tolist(), found.n_idle
    ([2, 2], 1)
    """
    import pyarrow as pa

    taxonomy = classifier.taxonomy
    token_probabilities(len(taxonomy), top_k, 0.0)  # refuses a top_k that does not fit
    if seed is None and start is None:
        raise OptionError("seed=None is for a release, where nobody's first visit may move the epochs; give start")
    ties = ties_from_the_system if seed is None else ties_from_seed(checked_seed(seed))
    alone = "give at least 2, one alone cannot be confused with anybody"
    if histories.n_users < 2:
        raise DataError(f"{histories.name}: there is 1 user; {alone}")
    begin = None if start is None else moment(start, "start") // 1_000_000
    epochs = Epochs.spanning(histories.time, epoch_days, step_days, begin)
    names = pa.array(histories.hosts, type=pa.large_string())
    found = classifier.classify(names.take(pa.array(histories.host)), invalid="count")
    n, r = histories.n_users, epochs.n
    sizes.CELLS.check(n * r * top_k, f"{n:,} users x {r:,} epochs x {top_k:,} topics", "choose longer epochs")
    roots = taxonomy.checked_roots(high_utility)
    ranked_first = np.array([taxonomy.root(topic) in roots for topic in taxonomy.ids.tolist()], dtype=np.bool_)
    tokens = np.full((n, r, top_k), -1, dtype=np.min_scalar_type(-len(taxonomy)))
    used = np.zeros((n, r), dtype=np.bool_)
    n_outside = 0
    for _, first, last in blocks(n, _BLOCK):
        part = slice(*np.searchsorted(histories.user, [first, last]).tolist())
        out = tokens[first:last], used[first:last]
        n_outside += _fill(histories, found, epochs, part, first, ranked_first, ties, *out)
    kept = np.flatnonzero(used.all(axis=1)) if every_epoch else np.arange(n)
    if len(kept) < 2:
        who = f"only 1 of {n:,} users has" if len(kept) else f"none of {n:,} users has"
        raise DataError(f"{histories.name}: {who} a visit in every one of {r} epochs; {alone}")
    users = take_users(histories.users, kept)
    sets = TopSets(tokens[kept], len(taxonomy), users, taxonomy.vocabulary, made_with_seed=seed is not None)
    return Replay(
        top_sets=sets.padded(seed),
        epochs=epochs,
        visits=found.coverage,
        hosts=found.distinct,
        n_outside=n_outside,
        n_padding=int(np.count_nonzero(sets.tokens < 0)),
        active=used[kept],
        n_dropped=n - len(kept),
        only_active=every_epoch,
        histories=histories,
        kept=kept,
    )


def _fill(
    histories: Histories,
    found: Classification,
    epochs: Epochs,
    part: slice,
    first: int,
    ranked_first: Bools,
    ties: Ties,
    out: Signed,
    used: Bools,
) -> int:
    """Fill the sets of one block of users; return how many of its visits lie in no epoch."""
    n_topics, k = len(ranked_first), out.shape[2]
    user, time = histories.user[part] - first, histories.time[part]
    starts = found.starts[part.start : part.stop + 1]
    tokens, sizes = found.tokens[starts[0] : starts[-1]], np.diff(starts)
    keys, placed = [], np.zeros(len(user), dtype=np.bool_)
    for epoch, inside in epochs.members(time):
        used[user[inside], epoch[inside]] = True
        placed |= inside
        cell = np.where(inside, user * epochs.n + epoch, -1)
        key = np.repeat(cell, sizes)
        keys.append(key[key >= 0] * n_topics + tokens[key >= 0])
    key = np.sort(np.concatenate(keys))
    first_of = np.flatnonzero(np.diff(key, prepend=-1))
    key, count = key[first_of], np.diff(first_of, append=len(key))
    cell, token = np.divmod(key, n_topics)
    # One number ranks by epoch, bucket and visits: three sorts in one.
    most = int(count.max(initial=0))
    rank = (cell * 2 + ~ranked_first[token]) * (most + 1) + most - count
    order = np.lexsort((ties(first + cell // epochs.n, cell % epochs.n, token), rank))
    cell, token = cell[order], token[order]
    # Place of each topic in its set: how far it is from the first one of the same user and epoch.
    place = np.arange(len(cell)) - np.searchsorted(cell, cell, side="left")
    top = place < k
    out.reshape(-1, k)[cell[top], place[top]] = token[top]
    return int(np.count_nonzero(~placed))


def ties_from_the_system(rows: Ints, epochs: Ints, topics: Ints) -> Words:
    """Draw words from the operating system's generator; there is no seed that anybody could find."""
    return np.frombuffer(os.urandom(8 * rows.size), dtype=np.uint64)


def ties_from_seed(seed: int) -> Ties:
    """Return words that seed, row, epoch and topic decide, for simulations: whoever knows the seed knows the order."""
    keys = stream(seed, "ties of replayed histories").integers(2**64, size=3, dtype=np.uint64)

    def words(rows: Ints, epochs: Ints, topics: Ints) -> Words:
        word: Words = np.zeros(rows.size, dtype=np.uint64)
        for key, part in zip(keys, (rows, epochs, topics), strict=True):
            word = (word ^ key) + part.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
            # The finaliser of SplitMix64: a one-to-one image in which every bit hangs on all bits.
            word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            word ^= word >> np.uint64(31)
        return word

    return words
