"""Noise that protects people: discrete, from the operating system's randomness, drawn by opendp, never seeded."""

import math
from typing import Any

import numpy as np

from reidrisk.base import Bools, Ints, OptionError, ReidRiskError, require, slices

_PIECE = 1 << 16  # values handed to the noise library at a time: it copies them to Python lists
_BITS = 1 << 20


def discrete_gaussian(sigma: float) -> Any:
    """Return opendp's measurement that adds discrete Gaussian noise of parameter sigma to whole numbers.

    Its own accounting, ``measurement.map(sensitivity)``, says the rho of zCDP that an l2 sensitivity spends.

    >>> round(discrete_gaussian(5.0).map(1.0), 6)                # 1 / (2 sigma^2)
    0.02
    """
    domains, metrics, noise = _opendp()
    space = domains.vector_domain(domains.atom_domain(T="i64")), metrics.l2_distance(T="f64")
    return noise.make_gaussian(*space, scale=sigma)


def add_discrete_gaussian(values: Ints, measurement: Any) -> Ints:
    """Add independent noise to every value of a vector."""
    # The noise of each count is independent, so pieces of a table spend together what the whole would.
    drawn = [np.array(measurement(values[part].tolist()), dtype=np.int64) for part in slices(len(values), _PIECE)]
    return np.concatenate(drawn) if drawn else np.empty(0, dtype=np.int64)


def randomised_response(bits: Bools, epsilon: float) -> Bools:
    r"""Let each of many people answer yes or no under local differential privacy (Warner 1965).

    The true answer is given with probability :math:`e^\epsilon / (1 + e^\epsilon)`, so two answers to one question
    differ in probability by a factor of at most :math:`e^\epsilon`. Each bit is one person's only answer.

    >>> told = randomised_response(np.ones(100_000, dtype=bool), epsilon=1.0)
    >>> bool(abs(told.mean() - 0.7311) < 0.01)
    True
    """
    if not (math.isfinite(epsilon) and epsilon > 0.0):
        raise OptionError(f"epsilon must be a finite number above 0, not {epsilon!r}")
    domains, metrics, noise = _opendp()
    # The library draws a fair coin with probability f, which flips a bit with probability f / 2. Floating-point numbers
    # end a little above 700: 1 in 10^304 answers is a lie there, which spends less than a larger epsilon.
    flip = 2.0 / (1.0 + math.exp(min(epsilon, 700.0)))
    # It counts 2 m changed bits for people with m of them. Here a person has one bit, and changes half as much.
    space = domains.bitvector_domain(max_weight=1), metrics.discrete_distance()
    measurement = noise.make_randomized_response_bitvec(*space, f=flip)
    spent = measurement.map(1) / 2.0
    if spent > epsilon * (1.0 + 1e-9):
        raise ReidRiskError(f"one answer would spend {spent:.6g}, more than {epsilon:g}; report this")
    answers = np.empty(bits.size, dtype=bool)
    for part in slices(bits.size, _BITS):
        told = np.frombuffer(measurement(np.packbits(bits[part]).tobytes()), dtype=np.uint8)
        answers[part] = np.unpackbits(told, count=part.stop - part.start).astype(bool)
    return answers


def _opendp() -> tuple[Any, Any, Any]:
    # Not its prelude, which loads every library there is for it.
    names = ("mod", "domains", "metrics", "measurements")
    mod, domains, metrics, noise = (require(f"opendp.{n}", "release", "noise that protects people") for n in names)
    mod.enable_features("contrib")
    return domains, metrics, noise
