"""Who is simulated in the studies of jha: the authors' rates where they are, the published population where not."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from reidrisk import populations, topics
from reidrisk.populations.rates import BLOCK, Rates
from reidrisk.records import TopSets, Traces
from reidrisk_studies.data import MissingDataError, data_file
from reidrisk_studies.jha.personas import crossover, distinct, drawn, identical, iid

__all__ = ["NOISE", "RATES", "SITES", "TOP_K", "USERS", "People", "find_people", "personas_of_bins"]

Floats = npt.NDArray[np.float64]

RATES = "topics_rates_jha/lambda-user-topic.csv.gz"
"""Mean weekly visits of 268 users to the 349 topics of the first taxonomy, released with the paper."""

TOP_K, NOISE = 5, 0.05
SITES = ("site 1", "site 2")
USERS = 1_000

_PUBLISHED_USERS, _PUBLISHED_WEEKS = 268, 52
_VISITS = 222.0  # jha, Section 4.2: pages that the median user visits in a week


@dataclass(frozen=True, eq=False)
class People:
    """The users that everybody else is made of.

    Attributes
    ----------
    matrix : (m, n_topics) array
        Their mean weekly visits.
    given : str
        Name of the population of just these users: ``"real"`` or ``"published"``.
    note : str
        Where they come from, for the assumptions of a result.
    """

    matrix: Floats
    given: str
    note: str

    @property
    def n_topics(self) -> int:
        """Number of topics."""
        return int(self.matrix.shape[1])

    @property
    def models(self) -> tuple[str, str, str]:
        """The given users, and the two models of personas (jha, Section 5)."""
        return (self.given, "iid", "crossover")

    def why(self, reason: str) -> str:
        """Return a reason why a number differs; where the users are not the authors', that is the first one."""
        if self.given == "real":
            return reason
        other = "These are not the authors' users, whose rates are not here."
        return other if reason.startswith("Agrees") else f"{other} {reason}"

    def rates(self, model: str, users: int, seed: int, top_k: int = TOP_K) -> Rates:
        """Return the rates of one population; of the given users there are only 268.

        Parameters
        ----------
        model : str
            One of :attr:`models`, ``"drawn"``, ``"identical"``, ``"distinct"``, or ``"iid, ten bins"``
            (:func:`personas_of_bins`).
        users : int
            How many; at most all of the given users.
        seed : int
            Of the personas.
        top_k : int
            Topics of each user of the two extreme populations.
        """
        if model == self.given:
            return populations.real(self.matrix[:users])
        if model == "identical":
            return identical(users, self.n_topics, top_k)
        if model == "distinct":
            return distinct(users, self.n_topics, top_k, seed=seed)
        if model == "iid, ten bins":
            return populations.real(personas_of_bins(self.matrix, users, seed))
        return {"iid": iid, "crossover": crossover, "drawn": drawn}[model](self.matrix, users, seed)

    def personas(self, model: str, users: int, seed: int, top_k: int = TOP_K) -> Rates:
        """Return the same rates; those of small populations are made once and kept, for the next setting to use."""
        if users > BLOCK:
            return self.rates(model, users, seed, top_k)
        return _kept(self, model, users, seed, top_k)

    def top_sets(self, model: str, users: int, epochs: int, seed: int, top_k: int = TOP_K) -> TopSets:
        """Simulate the browsing of one population."""
        api = topics.TopicsAPI(self.n_topics, top_k=top_k)
        return api.top_sets(self.personas(model, users, seed, top_k), epochs=epochs, seed=seed)

    def sites(
        self, model: str, users: int, epochs: int, seed: int, top_k: int = TOP_K, noise: float = NOISE
    ) -> tuple[Traces, Traces]:
        """Simulate what the two sites see, one token per epoch: the paper's N epochs are N tokens (footnote 10)."""
        sets = self.top_sets(model, users, epochs, seed, top_k)
        api = topics.TopicsAPI(self.n_topics, top_k=top_k, noise=noise)
        one, two = (api.expose(sets, seed=seed, site=site) for site in SITES)
        return one, two


@lru_cache(maxsize=20)
def _kept(people: People, model: str, users: int, seed: int, top_k: int) -> Rates:
    return populations.real(people.rates(model, users, seed, top_k).toarray())


def find_people() -> People:
    """Read the authors' rates; where they are missing, take users of the published population instead.

    The published population says which five topics a user holds in a week, not how often each was visited. A topic
    that is held in a share s of 52 weeks gets 222 s / 5 visits a week: then every user makes 222 visits, as the paper's
    median user does.
    """
    try:
        matrix = populations.read_rates(data_file(RATES))
    except MissingDataError as missing:
        sets = populations.published(_PUBLISHED_USERS, _PUBLISHED_WEEKS, seed=0)
        cells = np.arange(len(sets))[:, None] * sets.n_tokens + sets.tokens.reshape(len(sets), -1)
        held = np.bincount(cells.ravel(), minlength=len(sets) * sets.n_tokens).reshape(len(sets), -1)
        note = (
            f"The authors' rates were not found: {missing}. Instead, {_PUBLISHED_USERS} users of the published "
            f"population stand in, with rates in proportion to the weeks in which a topic is among their top {TOP_K} "
            f"and {_VISITS:g} visits a week: the numbers are not comparable with the paper's."
        )
        return People(np.asarray(held * (_VISITS / TOP_K / _PUBLISHED_WEEKS), dtype=np.float64), "published", note)
    note = (
        f"Users have the visit rates released by the authors ({len(matrix)} users, {matrix.shape[1]} topics), and "
        "personas are drawn from them; visits are Poisson, and interests do not change unless stated otherwise."
    )
    return People(np.asarray(matrix), "real", note)


def personas_of_bins(matrix: Floats, users: int, seed: int) -> Floats:
    """Draw I.I.D. personas as the code released with the paper does: numbers of topics from a histogram.

    The text takes the number of topics from its empirical distribution. The code counts it in ten equal bins, draws a
    bin, and a whole number evenly between the bin's ends; the topics and their rates are those of the text
    (:func:`reidrisk_studies.jha.personas.iid`).

    Examples
    --------
    >>> dense = personas_of_bins(np.array([[2.0, 0.0, 1.0], [4.0, 1.0, 3.0]]), 50, seed=0)
    >>> dense.shape, sorted(set(dense[:, 0].tolist()))
    ((50, 3), [0.0, 3.0])
    """
    from reidrisk.base.streams import stream

    rng = stream(seed, "personas of ten bins")
    visits = matrix > 0
    sizes, edges = np.histogram(visits.sum(axis=1))
    drawn = rng.choice(len(sizes), p=sizes / sizes.sum(), size=users)
    low, high = edges[drawn].astype(np.int64), edges[drawn + 1].astype(np.int64)
    wanted = rng.integers(low, np.maximum(high, low + 1))
    visitors = visits.sum(axis=0)
    known = np.flatnonzero(visitors)
    clocks = rng.standard_exponential((users, len(known))) / visitors[known]
    order = clocks.argsort(axis=1).argsort(axis=1)
    dense = np.zeros((users, matrix.shape[1]))
    dense[:, known] = np.where(order < wanted[:, None], matrix[:, known].sum(axis=0) / visitors[known], 0.0)
    return dense
