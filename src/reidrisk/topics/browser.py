"""Browsers by the specification, step by step: of one user, and of all users of browsing histories."""

import hashlib
import hmac
from collections import Counter, deque
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from reidrisk.base import DataError, OptionError, checked_seed, frozen, one_of, stream
from reidrisk.base.hosts import checked_observers, registrable
from reidrisk.mechanisms.top_k_noise import token_probabilities
from reidrisk.records import Traces
from reidrisk.topics.classify import HostClassifier
from reidrisk.topics.histories.replay import Replay
from reidrisk.topics.histories.times import DAY
from reidrisk.topics.taxonomy import Taxonomy

WEEK = 7 * DAY
_OBSERVED, _KEPT, _LONGEST_DELAY = 3 * WEEK, 4 * WEEK, 2 * DAY
_EPOCHS_KEPT, _EPOCHS_SHOWN = 4, 3
_GRID = 1_000_000


@dataclass(frozen=True)
class BrowserEpoch:
    """What a browser remembers of one epoch."""

    time: int  # when it was calculated, in seconds
    topics: tuple[int, ...]  # the top set as ids, the most visited first, padding last
    n_padding: int  # how many of them are padding
    # For each topic, who observed the user in three weeks on a page about it or about a topic below it.
    callers: tuple[frozenset[str], ...] = field(repr=False)


@dataclass(frozen=True)
class _Visit:
    time: int
    topics: tuple[int, ...]
    callers: frozenset[str]


class Browser:
    """A browser that follows the published specification step by step (jha, Section 2, with its footnote 11).

    Every seven days it derives the topics of the most page visits in the week that ended. All that is random about an
    answer is an HMAC-SHA256 under the browser's own 128-bit key of (decision, epoch, site), written as text: asked
    again, a site gets the same answer, and two sites get independent ones. Ties and padding are drawn once per epoch,
    from ``seed``; so is the 16-byte ``key`` where none is given.

    The first calculation is at ``start``, in seconds, and finds nothing but padding. ``top_k`` and ``noise``, rounded
    to a millionth, are as for :class:`TopicsAPI`. By the ``noise_rule`` a random topic is shown only where the real one
    would have been ("observed", the current specification), or to every caller, whatever it observed ("original").
    Trees of ``high_utility`` roots rank before all others, whatever their visits. Where the browser is not
    ``always_on``, a calculation that falls due while nothing happens waits for the next visit or question.

    >>> taxonomy = Taxonomy({1: "/News", 7: "/News/Weather", 4: "/Sports", 9: "/Travel"})
    >>> b = Browser(taxonomy, seed=0, top_k=1, noise=0.0)
    >>> b.visit(time=3600, topics=[7], callers=["ads.example"])
    >>> b.visit(time=7200, topics=[4], callers=[])  # nobody calls the API: the visit does not count
    >>> [b.topics(14 * 86_400, "shop.example", caller) for caller in ("ads.example", "other.example")]
    [(7,), ()]
    """

    def __init__(
        self,
        taxonomy: Taxonomy,
        seed: int = 0,
        key: bytes | None = None,
        start: int = 0,
        top_k: int = 5,
        noise: float = 0.05,
        noise_rule: Literal["observed", "original"] = "observed",
        high_utility: Collection[int] = (),
        always_on: bool = True,
    ) -> None:
        token_probabilities(len(taxonomy), top_k, noise)
        one_of("noise_rule", noise_rule, ("observed", "original"))
        if key is not None and (not isinstance(key, bytes) or len(key) != 16):
            raise OptionError("key must be 16 bytes (128 bits)")
        self.taxonomy, self.top_k, self.noise = taxonomy, int(top_k), float(noise)
        self.noise_rule, self.always_on = noise_rule, bool(always_on)
        self._high = taxonomy.checked_roots(high_utility)
        self._seed = checked_seed(seed)
        self._key = stream(self._seed, "key of a topics browser").bytes(16) if key is None else key
        self._now = self._due = _seconds(start)
        self._calculations = 0
        self._new: deque[_Visit] = deque()  # since the last calculation
        self._old: deque[_Visit] = deque()  # counted before, kept to know who observed what
        self._epochs: list[BrowserEpoch] = []

    @property
    def epochs(self) -> tuple[BrowserEpoch, ...]:
        """The epochs the browser remembers, four at most, the oldest first."""
        return tuple(self._epochs)

    @property
    def n_visits(self) -> int:
        """How many visits the browser remembers; they are deleted after four weeks."""
        return len(self._old) + len(self._new)

    def visit(self, time: int, topics: Iterable[int], callers: Iterable[str]) -> None:
        """Record a page visit: the topics of its host and who called the API on it; without callers, nothing.

        Times are seconds, never earlier than the visit or question before.
        """
        ids = tuple(dict.fromkeys(self.taxonomy.checked(topic) for topic in topics))
        who = frozenset(_domain(caller, "caller") for caller in callers)
        self._advance(time)
        if who:
            self._new.append(_Visit(self._now, ids, who))

    def topics(self, time: int, site: str, caller: str) -> tuple[int, ...]:
        """Return what a caller learns on a site, both registrable domains: up to three topic ids, sorted, each once."""
        return tuple(sorted({topic for _, topic in self.answers(time, site, caller) if topic is not None}))

    def answers(self, time: int, site: str, caller: str) -> tuple[tuple[int, int | None], ...]:
        """Return (time of the epoch, topic or ``None``) for each epoch that the site may see at this time."""
        _domain(site, "site")
        _domain(caller, "caller")
        self._advance(time)
        return tuple((epoch.time, self._answer(epoch, site, caller)) for epoch in self._shown(site))

    def _answer(self, epoch: BrowserEpoch, site: str, caller: str) -> int | None:
        place = self._hash("index of the top topic", epoch.time, site) % self.top_k
        observed = caller in epoch.callers[place]
        if not observed and self.noise_rule == "observed":
            return None
        if self._hash("random or top topic", epoch.time, site) % _GRID < round(self.noise * _GRID):
            return int(self.taxonomy.ids[self._hash("random topic", epoch.time, site) % len(self.taxonomy)])
        return epoch.topics[place] if observed else None

    def _shown(self, site: str) -> list[BrowserEpoch]:
        """Three epochs; a new one comes up to two days late and an old one goes up to two days early, by site."""
        if not self._epochs:
            return []
        last = self._epochs[-1].time
        too_early = self._now <= last + self._hash("delay of a new epoch", last, site) % _LONGEST_DELAY
        seen = self._epochs[:-1] if too_early else self._epochs
        oldest = self._now - _KEPT + self._hash("early end of an epoch", last, site) % _LONGEST_DELAY
        return [epoch for epoch in seen[-_EPOCHS_SHOWN:] if epoch.time >= oldest]

    def _hash(self, decision: str, time: int, site: str) -> int:
        message = f"{decision}|{time}|{site}".encode()
        return int.from_bytes(hmac.digest(self._key, message, hashlib.sha256)[:8], "little")

    def _advance(self, time: int) -> None:
        now = _seconds(time)
        if now < self._now:
            raise DataError(f"time {now} is before {self._now}, the visit or question before it; sort by time")
        # What was calculated more than eight weeks ago leaves no trace: pass over it, however long the pause.
        passed = max(0, (now - self._due) // WEEK - 8) if self.always_on else 0
        self._due += passed * WEEK
        self._calculations += passed
        while self._due < now:
            self._calculate(self._due if self.always_on else now)
        self._now = now
        for visits in (self._old, self._new):
            while visits and visits[0].time < now - _KEPT:
                visits.popleft()

    def _calculate(self, at: int) -> None:
        counts = Counter(topic for visit in self._new if visit.time >= at - WEEK for topic in visit.topics)
        self._old.extend(self._new)
        self._new.clear()
        rng = stream(self._seed, "ties and padding of a topics browser", self._calculations)
        names = sorted(counts)
        luck = dict(zip(names, rng.random(len(names)).tolist(), strict=True))
        top = sorted(names, key=lambda t: (self.taxonomy.root(t) not in self._high, -counts[t], luck[t]))[: self.top_k]
        padding = self.top_k - len(top)
        if padding:
            others = [topic for topic in self.taxonomy.ids.tolist() if topic not in top]
            top += rng.choice(others, size=padding, replace=False).tolist()
        callers: dict[int, set[str]] = {topic: set() for topic in top}
        for visit in self._old:
            if visit.time >= at - _OBSERVED:
                for topic in {above for t in visit.topics for above in (t, *self.taxonomy.ancestors(t))}:
                    if topic in callers:
                        callers[topic] |= visit.callers
        self._epochs.append(BrowserEpoch(at, tuple(top), padding, tuple(frozenset(callers[t]) for t in top)))
        del self._epochs[:-_EPOCHS_KEPT]
        self._due = at + WEEK
        self._calculations += 1


def _seconds(time: int) -> int:
    try:
        return int(time)
    except (TypeError, ValueError, OverflowError):
        raise DataError(f"time is {time!r}; give seconds as a number") from None


def _domain(name: str, what: str) -> str:
    if not isinstance(name, str) or not name or "|" in name:
        raise DataError(f"{what} is {name!r}; give a domain such as 'example.org'")
    return name


NETWORK = "network.example"  # the caller, who is on every page, and asks on the observers' sites


def browse(
    replayed: Replay,
    classifier: HostClassifier,
    observers: Sequence[str],
    noise: float = 0.05,
    noise_rule: Literal["observed", "original"] = "observed",
    presence: Literal["always", "active", "visits"] = "always",
    seed: int = 0,
    high_utility: Collection[int] = (),
) -> tuple[Traces, ...]:
    """Return what each observer would learn from browsers that follow the specification (jha, Section 2).

    The same users and weeks as in ``replayed``, but every user has a :class:`Browser` of its own; epochs must have 7
    days and not overlap. One caller is on every page and asks on the sites of the observers (registrable domains), so
    it learns whatever it observed in three weeks; padding it mostly did not, and there the token is missing. By
    ``presence`` each observer asks about every epoch, a week after it ("always"); only where the user has a visit at
    all ("active"); or whenever the history has a visit to its site, of the three latest epochs ("visits").

    >>> import polars
    >>> from reidrisk.topics import Taxonomy, histories_from_frame, replay
    >>> classifier = HostClassifier(Taxonomy({1: "/News", 4: "/Sports"}), {"rain.com": [1], "golf.org": [4]})
    >>> times = {"user": ["ann", "bob"], "timestamp": [0, 6 * 86_400], "host": ["rain.com", "golf.org"]}
    >>> found = replay(histories_from_frame(polars.DataFrame(times)), classifier, top_k=1)
    >>> [seen.tokens.tolist() for seen in browse(found, classifier, ["a.com", "b.com"], noise=0.0)]
    [[[0], [1]], [[0], [1]]]
    """
    epochs, histories, sets = replayed.epochs, replayed.histories, replayed.top_sets
    if (epochs.length, epochs.step) != (WEEK, WEEK):
        raise OptionError("by the specification epochs have 7 days and do not overlap; leave length and step at 7 days")
    one_of("presence", presence, ("always", "active", "visits"))
    sites = checked_observers(observers)
    taxonomy = classifier.taxonomy
    topics = [ids or () for ids in classifier.classify(histories.hosts, invalid="count")]
    asked = [sites.index(site) if site in sites else -1 for site in registrable(histories.hosts, invalid="none")]
    seeds = stream(checked_seed(seed), "browsers of replayed histories").integers(2**62, size=histories.n_users)
    shown = np.full((len(sites), len(sets), epochs.n), -1, dtype=np.min_scalar_type(-len(taxonomy)))
    tokens = {int(topic): token for token, topic in enumerate(taxonomy.ids)}
    ends = range(epochs.start + 2 * WEEK - 1, epochs.start + (epochs.n + 1) * WEEK, WEEK)

    for row, user in enumerate(replayed.kept.tolist()):
        # A browser counts the last second of a week in it: it starts one second before the first epoch.
        browser = Browser(taxonomy, int(seeds[user]), None, epochs.start - 1, sets.k, noise, noise_rule, high_utility)

        def ask(time: int, site: int, browser: Browser = browser, row: int = row) -> None:
            for at, topic in browser.answers(time, sites[site], NETWORK):
                epoch = (at + 1 - epochs.start) // WEEK - 1
                if topic is not None and 0 <= epoch < epochs.n:
                    shown[site, row, epoch] = tokens[topic]

        first, last = np.searchsorted(histories.user, [user, user + 1]).tolist()
        own = zip(histories.time[first:last].tolist(), histories.host[first:last].tolist(), strict=True)
        # Questions at the end of a week come after the visits of that second.
        events = [(time, 0, host) for time, host in own if time >= epochs.start]
        if presence != "visits":
            events += [(time, 1, site) for time in ends for site in range(len(sites))]
        for time, is_question, what in sorted(events, key=lambda event: event[:2]):
            if is_question:
                ask(time, what)
            else:
                browser.visit(time, topics[what], [NETWORK])
                if presence == "visits" and asked[what] >= 0:
                    ask(time, asked[what])
    if presence == "active":
        shown[:, ~replayed.active] = -1
    return tuple(Traces(seen, sets.n_tokens, sets.users, sets.vocabulary) for seen in frozen(shown))
