"""Browsing histories through browsers by the specification: slower, and with what the model leaves out."""

from collections.abc import Collection, Sequence
from typing import Literal

import numpy as np

from reidrisk.base.errors import OptionError
from reidrisk.base.hosts import registrable
from reidrisk.base.streams import checked_seed, stream
from reidrisk.records import Traces
from reidrisk.topics.browser import WEEK, Browser
from reidrisk.topics.classify import HostClassifier
from reidrisk.topics.histories.replay import Replay
from reidrisk.topics.hosts import checked_observers

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
    if presence not in ("always", "active", "visits"):
        raise OptionError(f"presence must be 'always', 'active' or 'visits', not {presence!r}")
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
    shown.flags.writeable = False
    return tuple(Traces(seen, sets.n_tokens, sets.users, sets.vocabulary) for seen in shown)
