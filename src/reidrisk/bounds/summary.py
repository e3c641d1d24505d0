"""Every bound and every measured quantity of a channel in one table, and which bound is the tightest."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

import reidrisk.bounds.other_notions as notions
from reidrisk.base import Bound, Measurement, Note, Result, Spoken
from reidrisk.bounds.exact_pairs import exp_ends
from reidrisk.bounds.ldp import from_ldp, ldp_epsilon
from reidrisk.bounds.matching import matching
from reidrisk.bounds.random_user import random_user
from reidrisk.bounds.row_pairs import RowPairs
from reidrisk.records import Channel

_GRID = 9  # how many epsilons from 0 to log(n) are tried where the smallest one for delta = 0 says nothing
_WORK = 100_000_000  # entries that may be visited for each of them

Notes = tuple[Note, ...]
_FULL = Note("knows-probabilities")
_UNIFORM = (Note("equally-likely"),)


def summary(P: Any) -> tuple[Bound | Measurement, ...]:
    """Return all bounds of the framework on a channel, and the quantities they follow from.

    Bounds: the random-user optimum (carey, Corollary 1), what follows from local differential privacy (Lemma 3), from
    k-anonymity (Lemma 7) and from mutual information (Lemma 9), and the matching bound (Lemma 4). Where the smallest
    epsilon with ``delta = 0`` says nothing, the best of a small grid of (epsilon, delta) is added.

    >>> for result in summary([[0.5, 0.0, 0.5], [0.0, 0.5, 0.5]])[:4]:
    ...     print(f"{type(result).__name__:11}  {result.value:.3f}  {result.name}")
    Bound        0.750  optimal attacker
    Bound        inf  local differential privacy
    Bound        1.000  approximate local differential privacy
    Bound        1.000  k-anonymity
    """
    channel = Channel(P)
    n = channel.n_users
    epsilon, k, bits = ldp_epsilon(channel), notions.k_anonymity(channel), notions.mutual_information(channel)
    private, at, delta = _private_bounds(channel, epsilon)
    together = (_FULL, Note("all-seen"))
    return (
        _bound("optimal attacker", random_user(channel), n, "carey, Corollary 1", (_FULL, *_UNIFORM)),
        *private,
        _bound("k-anonymity", notions.from_k_anonymity(k), n, "carey, Lemma 7", k=float(k)),
        _bound("mutual information", notions.from_mutual_information(bits, n), n, "carey, Lemma 9", bits=bits),
        _bound("distinct representations", matching(channel), n, "carey, Lemma 4", together, "matching"),
        Measurement("k", float(k), "users" if k else "", "carey, Appendix B.1"),
        Measurement("epsilon", epsilon, "", "carey, Definition 1"),
        Measurement("delta", delta[1], "", "carey, Definition 1", *delta, inputs={"epsilon": at}),
        Measurement("mutual information", bits, "bits", "carey, Appendix B.3", inputs={"users": float(n)}),
        Measurement("Bayes vulnerability", notions.vulnerability(channel), "", "carey, Appendix B.4"),
        Measurement("min-entropy leakage", notions.min_entropy_leakage(channel), "bits", "carey, Appendix B.4"),
    )


def _private_bounds(channel: Channel, epsilon: float) -> tuple[list[Bound], float, tuple[float, float]]:
    """Return the bounds from LDP, and the (epsilon, interval of delta) that belongs to the last of them."""
    n, m = channel.shape
    pure = from_ldp(n, m, epsilon)
    found = [_bound("local differential privacy", pure, n, "carey, Lemma 3", epsilon=epsilon, delta=0.0)]
    if pure < 1.0 or n == 1:
        return found, epsilon, (0.0, 0.0)
    pairs = RowPairs(channel, _WORK)
    grid = [(float(e), pairs.delta(*exp_ends(float(e)))) for e in np.linspace(0.0, math.log(n), _GRID)]
    at, delta = min(grid, key=lambda entry: from_ldp(n, m, entry[0], entry[1][1]))
    name, value = "approximate local differential privacy", from_ldp(n, m, at, delta[1])
    found.append(_bound(name, value, n, "carey, Lemma 3", epsilon=at, delta=delta[1]))
    return found, at, delta


def _bound(
    name: str, value: float, n: int, where: str, notes: Notes = _UNIFORM, setting: str = "random user", **inputs: float
) -> Bound:
    return Bound(name, setting, value, 1.0 / n, where, inputs=inputs, notes=notes)


@dataclass(frozen=True, eq=False)
class Tightest(Spoken):
    """The tightest of several bounds of one setting, and those that say nothing."""

    setting: str
    name: str  # of the tightest bound; empty where none says anything, and the value is then 1
    value: float
    silent: tuple[str, ...] = ()  # names of the bounds at 1 or above: they exclude nothing


def tightest_of(bounds: Iterable[Bound]) -> Bound | None:
    """Return the bound with the smallest upper end among those that say something; the first of equal ones.

    Bounds that hold only within a model of people are passed over: an attacker who knows better may exceed them.

    >>> exact = Bound("exact", "random user", 0.3, 0.01, "")
    >>> estimated = Bound("estimated", "random user", 0.25, 0.01, "", low=0.2, high=0.4)
    >>> model = Bound("model", "random user", 0.1, 0.01, "", within_model=True)
    >>> tightest_of([exact, estimated, model]).name
    'exact'
    """
    telling = [bound for bound in bounds if bound.says_something and not bound.within_model]
    return min(telling, key=lambda bound: bound.high, default=None)


def tightest(bounds: Iterable[Result], setting: str) -> Tightest:
    """Name the tightest bound of a setting, and those that say nothing; anything that is no bound is passed over.

    >>> found = tightest(summary([[0.5, 0.0, 0.5], [0.0, 0.5, 0.5]]), "random user")
    >>> found.name, found.value, found.silent[0]
    ('optimal attacker', 0.75, 'local differential privacy')
    """
    these = [bound for bound in bounds if isinstance(bound, Bound) and bound.setting == setting]
    silent = tuple(bound.name for bound in these if not bound.says_something)
    best = tightest_of(these)
    return Tightest(setting, "", 1.0, silent) if best is None else Tightest(setting, best.name, best.value, silent)


def tightest_by_epochs(bounds: Iterable[Bound]) -> dict[int, Bound]:
    """Return, for each number of epochs, the tightest bound on linking one record at a time.

    Where there is none for that setting at all, those on linking everyone at once are taken: whoever links one record
    at a time can do so for all of them, and is right as often.

    >>> loose = Bound("a", "random user", 0.5, 0.01, "", n_epochs=2)
    >>> tight = Bound("b", "random user", 0.2, 0.01, "", n_epochs=2)
    >>> {r: bound.name for r, bound in tightest_by_epochs([loose, tight]).items()}
    {2: 'b'}
    """
    given = [bound for bound in bounds if not bound.within_model and bound.n_epochs is not None]
    asked = [bound for bound in given if bound.setting == "random user"] or given
    counts = sorted({bound.n_epochs for bound in asked if bound.n_epochs is not None})
    found = {r: tightest_of(bound for bound in asked if bound.n_epochs == r) for r in counts}
    return {r: bound for r, bound in found.items() if bound is not None}
