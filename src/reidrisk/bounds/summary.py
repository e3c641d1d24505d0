"""Every bound and every measured quantity of a channel in one table, and which bound is tightest."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from reidrisk.base.results import Bound, Measurement, Result
from reidrisk.base.wording import in_words, two_digits
from reidrisk.bounds.anonymity import from_k_anonymity, k_anonymity
from reidrisk.bounds.exact_pairs import exp_ends
from reidrisk.bounds.information import (
    from_mutual_information,
    min_entropy_leakage,
    mutual_information,
    vulnerability,
)
from reidrisk.bounds.ldp import from_ldp, ldp_epsilon
from reidrisk.bounds.matching import matching
from reidrisk.bounds.random_user import random_user
from reidrisk.bounds.readings import at_most, exactly
from reidrisk.bounds.row_pairs import RowPairs
from reidrisk.records import Channel

__all__ = ["Tightest", "summary", "tightest"]

_GRID = 9
"""How many epsilons from 0 to log(n) are tried where the smallest one for delta = 0 says nothing."""

_WORK = 100_000_000
"""Entries that may be visited for each of them."""

_FULL = "the attacker knows the channel: every user's probabilities"
_UNIFORM = "every user is equally likely to be the one in question"


def summary(P: Any) -> tuple[Bound | Measurement, ...]:
    """Return all bounds of the framework on a channel, and the quantities they follow from.

    Bounds: the random-user optimum (carey, Corollary 1), what follows from local differential privacy
    (Lemma 3), from k-anonymity (Lemma 7) and from mutual information (Lemma 9), and the matching bound
    (Lemma 4). Where the smallest epsilon with ``delta = 0`` says nothing, the best of a small grid of
    (epsilon, delta) is added. Measured: k, epsilon, delta, mutual information, Bayes vulnerability, min-entropy
    leakage.

    Parameters
    ----------
    P : (n, m) Channel, array or ``scipy.sparse`` matrix

    Examples
    --------
    >>> for result in summary([[0.5, 0.0, 0.5], [0.0, 0.5, 0.5]]):
    ...     print(f"{type(result).__name__:11}  {result.value:.3f}  {result.name}")
    Bound        0.750  optimal attacker
    Bound        inf  local differential privacy
    Bound        1.000  approximate local differential privacy
    Bound        1.000  k-anonymity
    Bound        1.500  mutual information
    Bound        0.875  distinct representations
    Measurement  0.000  k
    Measurement  inf  epsilon
    Measurement  0.500  delta
    Measurement  0.500  mutual information
    Measurement  0.750  Bayes vulnerability
    Measurement  0.585  min-entropy leakage
    """
    channel = Channel(P)
    n = channel.n_users
    epsilon, k, bits = ldp_epsilon(channel), k_anonymity(channel), mutual_information(channel)
    private, at, delta = _private_bounds(channel, epsilon)
    return (
        _optimum(random_user(channel), n),
        *private,
        _anonymous_bound(k, n),
        _informed_bound(bits, n),
        _matching_bound(matching(channel), n),
        Measurement("k", float(k), "users" if k else "", "carey, Appendix B.1", reading=_k_reading(k)),
        Measurement("epsilon", epsilon, "", "carey, Definition 1", reading=_epsilon_reading(epsilon)),
        _delta_measurement(at, delta),
        _information(bits, n),
        _vulnerability(vulnerability(channel)),
        _leakage(min_entropy_leakage(channel)),
    )


@dataclass(frozen=True, eq=False)
class Tightest(Result):
    """The tightest of several bounds of one setting, and those that say nothing.

    Attributes
    ----------
    setting : str
        ``"random user"`` or ``"matching"``.
    name : str
        Of the tightest bound; empty where none says anything.
    value : float
        Its value, 1 where none says anything.
    silent : tuple of str
        Names of the bounds at 1 or above: they exclude nothing.
    """

    setting: str
    name: str
    value: float
    silent: tuple[str, ...] = ()
    reading: str = ""


def tightest(bounds: Iterable[Result], setting: str) -> Tightest:
    """Name the tightest bound of a setting, and those that say nothing; anything that is no bound is passed over.

    Bounds are compared by the upper end of their interval, the first of equal ones wins.

    Examples
    --------
    >>> found = tightest(summary([[0.5, 0.0, 0.5], [0.0, 0.5, 0.5]]), "random user")
    >>> found.name, found.value
    ('optimal attacker', 0.75)
    >>> found.silent[0]
    'local differential privacy'
    """
    these = [bound for bound in bounds if isinstance(bound, Bound) and bound.setting == setting]
    silent = tuple(bound.name for bound in these if not bound.says_something)
    telling = [bound for bound in these if bound.says_something]
    if not telling:
        return Tightest(setting, "", 1.0, silent, f"No bound says anything about the {setting} setting here.")
    best = min(telling, key=lambda bound: bound.high)
    rest = f"; {_and(silent)} {'says' if len(silent) == 1 else 'say'} nothing here" if silent else ""
    return Tightest(
        setting, best.name, best.value, silent, f"The tightest is '{best.name}' with {in_words(best.value)}{rest}."
    )


def _optimum(value: float, n: int) -> Bound:
    return Bound(
        name="optimal attacker",
        setting="random user",
        value=value,
        baseline=1.0 / n,
        reference="carey, Corollary 1",
        assumptions=(_FULL, _UNIFORM),
        reading=exactly(value, "random user", 1.0 / n, "who knows every user's probabilities"),
    )


def _private_bounds(channel: Channel, epsilon: float) -> tuple[list[Bound], float, tuple[float, float]]:
    """Return the bounds from LDP, and the (epsilon, interval of delta) that belongs to the last of them."""
    n, m = channel.shape
    pure = from_ldp(n, m, epsilon)
    found = [_private_bound("local differential privacy", pure, n, epsilon, 0.0)]
    if pure < 1.0 or n == 1:
        return found, epsilon, (0.0, 0.0)
    pairs = RowPairs(channel, _WORK)
    grid = [(float(e), pairs.delta(*exp_ends(float(e)))) for e in np.linspace(0.0, math.log(n), _GRID)]
    at, delta = min(grid, key=lambda entry: from_ldp(n, m, entry[0], entry[1][1]))
    value = from_ldp(n, m, at, delta[1])
    found.append(_private_bound("approximate local differential privacy", value, n, at, delta[1]))
    return found, at, delta


def _private_bound(name: str, value: float, n: int, epsilon: float, delta: float) -> Bound:
    guarantee = f"epsilon is {two_digits(epsilon)}" + (f" with delta {two_digits(delta)}" if delta else "")
    return Bound(
        name=name,
        setting="random user",
        value=value,
        baseline=1.0 / n,
        reference="carey, Lemma 3",
        inputs={"epsilon": epsilon, "delta": delta},
        assumptions=(_UNIFORM,),
        reading=at_most(value, "random user", 1.0 / n, guarantee),
    )


def _anonymous_bound(k: int, n: int) -> Bound:
    value = from_k_anonymity(k)
    return Bound(
        name="k-anonymity",
        setting="random user",
        value=value,
        baseline=1.0 / n,
        reference="carey, Lemma 7",
        inputs={"k": float(k)},
        assumptions=(_UNIFORM,),
        reading=at_most(value, "random user", 1.0 / n, f"every representation is shared by at least {k:,} users"),
    )


def _informed_bound(bits: float, n: int) -> Bound:
    value = from_mutual_information(bits, n)
    return Bound(
        name="mutual information",
        setting="random user",
        value=value,
        baseline=1.0 / n,
        reference="carey, Lemma 9",
        inputs={"bits": bits},
        assumptions=(_UNIFORM,),
        reading=at_most(
            value, "random user", 1.0 / n, f"a representation tells {two_digits(bits)} bits about its user"
        ),
    )


def _matching_bound(value: float, n: int) -> Bound:
    return Bound(
        name="distinct representations",
        setting="matching",
        value=value,
        baseline=1.0 / n,
        reference="carey, Lemma 4",
        assumptions=(_FULL, "one representation of every user is seen, in random order"),
        reading=at_most(value, "matching", 1.0 / n, "users with the same representation cannot be told apart"),
    )


def _delta_measurement(at: float, delta: tuple[float, float]) -> Measurement:
    low, high = delta
    fails = f"fails by at most {two_digits(high)} in probability" if high > 0.0 else "never fails"
    reading = f"With epsilon {two_digits(at)}, the guarantee {fails}."
    return Measurement("delta", high, "", "carey, Definition 1", low=low, high=high, reading=reading)


def _information(bits: float, n: int) -> Measurement:
    needed = two_digits(math.log2(n))
    reading = f"A representation tells {two_digits(bits)} of the {needed} bits it takes to name a user."
    return Measurement("mutual information", bits, "bits", "carey, Appendix B.3", reading=reading)


def _vulnerability(value: float) -> Measurement:
    reading = f"One guess, made after seeing the representation, is right for {in_words(value)} users."
    return Measurement("Bayes vulnerability", value, "", "carey, Appendix B.4", reading=reading)


def _leakage(bits: float) -> Measurement:
    reading = f"Seeing the representation makes one guess {two_digits(2.0**bits)} times as likely to be right."
    return Measurement("min-entropy leakage", bits, "bits", "carey, Appendix B.4", reading=reading)


def _k_reading(k: int) -> str:
    if not k:
        return "Some user's representation varies, so k-anonymity does not apply."
    return f"Every representation is shared by at least {k:,} users."


def _epsilon_reading(epsilon: float) -> str:
    if math.isinf(epsilon):
        return "Some representation is possible for one user and impossible for another."
    factor = two_digits(math.exp(epsilon)) if epsilon < 20 else f"e^{two_digits(epsilon)}"
    return f"No representation is more than {factor} times as likely for one user as for another."


def _and(names: tuple[str, ...]) -> str:
    quoted = [f"'{name}'" for name in names]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} and {quoted[-1]}"
