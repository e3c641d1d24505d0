"""Bits: what a measure of information says, and its exact values where the distribution is known."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from reidrisk.base import DataError, Note, OptionError, Result, Spoken
from reidrisk.base.arrays import ArrayLike, Floats
from reidrisk.base.plain import MEMORY
from reidrisk.records import Channel

_SUM = 1e-6  # how far the probabilities of a distribution may be from adding up to 1


@dataclass(frozen=True, eq=False)
class Bits(Result):
    """A number of bits per epoch, and its interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Information(Spoken):
    """Bits per epoch: H(B) of one observer's record, H(B | A) once another's is known, and their difference I(A; B).

    ``n_users`` were looked at, ``n_measured`` of them measured; a ``method`` of ``"exact"`` has no interval.

    >>> found = exact_information(np.full((2, 2), 0.25))
    >>> Information.from_json(found.to_json()) == found
    True
    """

    entropy: Bits
    conditional: Bits
    mutual: Bits
    n_epochs: int
    method: str
    n_users: int = 0
    n_measured: int = 0
    level: float = 0.95
    seed: int | None = None
    notes: tuple[Note, ...] = ()
    per_user: Floats | None = field(default=None, repr=False, metadata=MEMORY)
    """(n_measured, 3) Bits of B, bits of B given A, and observed epochs of each user; stays out of JSON."""


def exact_information(known: Channel | ArrayLike, weights: ArrayLike | None = None) -> Information:
    r"""Return the information of one epoch where the distribution is known: no sampling, no model.

    ``known`` is the joint distribution P(A = a, B = b), or a :class:`reidrisk.Channel` P from which both observers of
    user i draw a token independently: then P(a, b) = sum_i w_i P[i, a] P[i, b]. ``weights`` are the w_i, which add up
    to 1; default: all alike.

    I(A; B) = H(B) - H(B | A) = sum_ab P(a, b) log2 [ P(a, b) / (P(a) P(b)) ].

    >>> told = exact_information(Channel([[1.0, 0.0], [0.0, 1.0]]))          # a token names one of two users
    >>> told.entropy.value, told.conditional.value, told.mutual.value
    (1.0, 0.0, 1.0)
    """
    joint = _joint(known, weights)
    entropy = _bits_of(joint.sum(axis=0))
    conditional = max(0.0, _bits_of(joint) - _bits_of(joint.sum(axis=1)))
    h, c, i = (Bits(value, value, value) for value in (entropy, conditional, max(0.0, entropy - conditional)))
    return Information(h, c, i, n_epochs=1, method="exact")


def _joint(known: Any, weights: Any) -> Floats:
    if isinstance(known, Channel):
        matrix, n = known.matrix, known.n_users
        w = np.full(n, 1.0 / n) if weights is None else np.asarray(weights, dtype=np.float64)
        if w.shape != (n,) or not (w >= 0).all() or abs(w.sum() - 1.0) > _SUM:
            raise DataError(f"weights must be {n:,} numbers of at least 0 that add up to 1, one per user")
        scaled = matrix * w[:, None] if isinstance(matrix, np.ndarray) else matrix.multiply(w[:, None]).tocsr()
        product = matrix.T @ scaled
        return np.asarray(product if isinstance(product, np.ndarray) else product.toarray())
    if weights is not None:
        raise OptionError("weights are those of the users of a Channel; a joint distribution has them in it")
    joint = np.asarray(known, dtype=np.float64)
    if joint.ndim != 2 or not (joint >= 0).all() or abs(joint.sum() - 1.0) > _SUM:
        raise DataError(
            f"a joint distribution is a matrix of numbers of at least 0 that add up to 1, not {joint.shape}"
        )
    return joint


def _bits_of(p: Floats) -> float:
    """Return the entropy of the probabilities ``p`` in bits; 0 log 0 = 0."""
    return float(-np.sum(p * np.log2(p, where=p > 0, out=np.zeros_like(p)))) + 0.0
