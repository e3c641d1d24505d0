"""TypeMixture: people whose sets come from a uniform mixture of simple types (dick, Section 5), and its file."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain, combinations
from typing import Any, ClassVar, NamedTuple

import numpy as np

from reidrisk.base import ArrayLike, Floats, Result, Vocabulary, checked_seed, frozen, require, sizes, whole
from reidrisk.base.arrays import Singles
from reidrisk.base.errors import DataError, FormatError, OptionError, ReidRiskError
from reidrisk.io.atomic import PathLike, write_atomically
from reidrisk.io.documents import parse_json
from reidrisk.io.tables import existing_file
from reidrisk.privacy import PrivacyStatement
from reidrisk.records import TopSets


class MixtureStatistics(NamedTuple):
    """What a model says: single (r, N), within (r, N, N) with a zero diagonal, across (r - 1, N, N)."""

    single: Floats
    within: Floats
    across: Floats


@dataclass(frozen=True, eq=False)
class FitReport(Result):
    """How a fit went."""

    objective: float  # J of the model, by the formula in single precision
    steps: int
    seconds: float  # seconds of earlier runs that a checkpoint continued are counted in
    stopped: str  # why it ended: "all steps done" or "levelled off"
    device: str
    seed: int
    learning_rate: float
    curve: tuple[tuple[int, float], ...] = ()  # steps, and J on the way


class TypeMixture:
    r"""A uniform mixture of T types; each draws k tokens independently for each of r epochs.

    Token o stands in slot s of epoch i of type t with probability
    :math:`P[t, i, s, o] = \mathrm{softmax}(\theta[t, i, s, :])_o`; the set of an epoch is what its slots hold,
    duplicates once (dick, Algorithm 2). ``theta`` are the (T, r, k, N) logits; ``statement`` is what protects the
    people behind the statistics that the model was fitted to, and ``report`` says how.

    >>> model = TypeMixture(np.zeros((1, 2, 1, 2)))       # one type, two epochs, one slot, a fair coin
    >>> model
    TypeMixture(1 types, 2 epochs, sets of 1 out of 2 tokens)
    >>> model.statistics().across.tolist()
    [[[0.25, 0.25], [0.25, 0.25]]]
    """

    __slots__ = ("k", "n_epochs", "n_tokens", "n_types", "report", "statement", "theta", "vocabulary")

    fit: ClassVar[Callable[..., TypeMixture]]
    """The former name of :func:`reidrisk.release.fit_mixture`, which provides it."""

    def __init__(
        self,
        theta: ArrayLike,
        vocabulary: Vocabulary | None = None,
        statement: PrivacyStatement | None = None,
        report: FitReport | None = None,
    ) -> None:
        array = np.array(theta, dtype=np.float32)
        if array.ndim != 4 or 0 in array.shape:
            raise DataError(f"theta must have shape (types, epochs, slots, tokens), not {array.shape}")
        if not np.isfinite(array).all():
            place = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
            raise DataError(f"theta{list(place)} is {array[place]}; logits are finite numbers")
        if vocabulary is not None and len(vocabulary) != array.shape[3]:
            raise DataError(f"theta has {array.shape[3]} tokens but the vocabulary {len(vocabulary)} labels")
        self.theta: Singles = frozen(array)
        self.n_types, self.n_epochs, self.k, self.n_tokens = array.shape
        self.vocabulary, self.statement, self.report = vocabulary, statement, report

    def probabilities(self, epoch: int) -> Floats:
        """Return the (T, k, N) slot probabilities of one epoch."""
        logits = self.theta[:, epoch].astype(np.float64)
        logits -= logits.max(axis=-1, keepdims=True)
        np.exp(logits, out=logits)
        logits /= logits.sum(axis=-1, keepdims=True)
        return logits

    def statistics(self) -> MixtureStatistics:
        r"""Return the statistics of the distribution in closed form (dick, Appendix A).

        With x_s the probabilities of a token in the slots, :math:`q_{single} = \frac1T \sum_t (1 - \prod_s (1 - x_s))`,
        :math:`q_{across}` the mean over types of the product of two epochs' terms, and

        .. math:: q_{within} = \frac1T \sum_t \sum_{A \ne \emptyset}
                  \prod_{s \in A} (-y_s) \Big[ \prod_{s \notin A} (1 - x_s) - 1 \Big],

        over subsets A of the slots, which is appendix A's formula with :math:`\prod_s (1 - x_s - y_s)` multiplied out.
        """
        inside = np.empty((self.n_epochs, self.n_types, self.n_tokens))
        within = np.empty((self.n_epochs, self.n_tokens, self.n_tokens))
        for epoch in range(self.n_epochs):
            x = self.probabilities(epoch)
            inside[epoch] = 1.0 - np.prod(1.0 - x, axis=1)
            within[epoch] = _within(x)
        across = np.matmul(inside[:-1].transpose(0, 2, 1), inside[1:]) / self.n_types
        return MixtureStatistics(inside.mean(axis=1), within, across)

    def objective(self, statistics: Any) -> float:
        """Return J: the mean squared difference from targets like :class:`reidrisk.release.Statistics` (dick, 5.1)."""
        if len(statistics.single) != self.n_tokens:
            raise DataError(f"the model has {self.n_tokens} tokens, the statistics {len(statistics.single)}")
        ours = self.statistics()
        total = float(((ours.single - statistics.single) ** 2).sum())
        total += float(((ours.within - statistics.within) ** 2).sum()) / 2.0
        total += float(((ours.across - statistics.across) ** 2).sum())
        return total / n_terms(self.n_epochs, self.n_tokens)

    def cumulated(self) -> Floats:
        """Return the cumulative slot probabilities, (T, r, k, N)."""
        steps = np.empty(self.theta.shape)
        for epoch in range(self.n_epochs):
            np.cumsum(self.probabilities(epoch), axis=2, out=steps[:, epoch])
        steps /= steps[..., -1:]
        return steps

    def sample(self, n: int, seed: int, threads: int | None = None) -> TopSets:
        """Draw users: a type each, a token for every slot, duplicates within a set once (dick, Algorithm 2).

        Same seed, same users, on any number of threads; more of them leave the first ones as they are. Tokens ascend.
        Sets that came out short are filled with -1: pad them once, for all observers, with ``padded(seed)``.
        """
        from reidrisk.populations.draw_kernels import draw  # the compiler is loaded by those who sample

        n = whole("n", n, unit="users")
        advice = "draw fewer, or write them with release.write_users"
        sizes.CELLS.check(n * self.n_epochs * self.k, "drawing users", advice)
        tokens = draw(self.cumulated(), 0, n, checked_seed(seed), threads)
        return TopSets(frozen(tokens), self.n_tokens, vocabulary=self.vocabulary)

    def save(self, path: PathLike) -> None:
        """Write the model as one safetensors file; spec, vocabulary and privacy statement are in its header.

        A model without a privacy statement is not written: nobody could tell what protects the people behind it.
        """
        if self.statement is None:
            raise OptionError("the model has no privacy statement, so it is not written; give TypeMixture a statement")
        numpy = require("safetensors.numpy", "release", "saving a model")
        spec = {
            "kind": "type mixture",
            "n_tokens": self.n_tokens,
            "vocabulary": None if self.vocabulary is None else list(self.vocabulary.labels),
            "privacy": self.statement.to_dict(),
            "fit": None if self.report is None else self.report.to_dict(),
        }
        with write_atomically(path) as temporary:
            header = {"reidrisk": json.dumps(spec, ensure_ascii=False, allow_nan=False)}
            temporary.write_bytes(numpy.save({"theta": self.theta}, metadata=header))

    @classmethod
    def load(cls, path: PathLike, vocabulary: Vocabulary | None = None) -> TypeMixture:
        """Read what :meth:`save` wrote; without a privacy statement, or over another vocabulary, it is refused."""
        library = require("safetensors", "release", "loading a model")
        file_path = existing_file(path)
        sizes.BYTES.check(file_path.stat().st_size, str(path), "fit a smaller model")
        try:
            with library.safe_open(file_path, framework="numpy") as file:
                spec = parse_json((file.metadata() or {}).get("reidrisk", "null"), str(path), "the spec of a model")
                theta = file.get_tensor("theta")
        except FormatError:
            raise
        # Types that NumPy does not know (bfloat16) end in a TypeError or an AttributeError.
        except (OSError, library.SafetensorError, ValueError, TypeError, AttributeError) as error:
            raise FormatError(f"{path}: it is no model that can be read ({error})") from error
        if not isinstance(spec, dict) or spec.get("kind") != "type mixture":
            raise FormatError(f"{path}: it has no spec of a type mixture; write it with TypeMixture.save")
        statement = PrivacyStatement.from_document(str(path), spec.get("privacy"))
        labels, report = spec.get("vocabulary"), spec.get("fit")
        try:
            if theta.dtype.kind != "f" or not isinstance(labels, list | None):
                raise DataError(f"theta is of type {theta.dtype}, the vocabulary a {type(labels).__name__}")
            known = None if labels is None else Vocabulary(labels)
            model = cls(theta, known, statement, None if report is None else FitReport.from_dict(report))
        except (TypeError, AttributeError, ReidRiskError) as error:
            raise FormatError(f"{path}: the model is damaged ({error}); write it again") from error
        if vocabulary is not None and vocabulary != known:
            held = f"{model.n_tokens} tokens without labels" if known is None else f"{len(known)} labels"
            raise DataError(f"{path}: the model is over another vocabulary ({held}), not of {len(vocabulary)} labels")
        return model

    def __repr__(self) -> str:
        sets = f"sets of {self.k} out of {self.n_tokens} tokens"
        return f"TypeMixture({self.n_types} types, {self.n_epochs} epochs, {sets})"


def mixture(model: TypeMixture, n: int, seed: int = 0) -> TopSets:
    """Draw a population from a fitted model (dick, Algorithm 2): (n, r, k) tokens, every set full.

    A set that came out short is padded once per user and epoch, so that every observer sees the same padding (dick,
    Section 5). Anything with a method ``sample`` is a model.

    >>> mixture(TypeMixture(np.zeros((3, 2, 2, 9))), 1000, seed=0).is_padded
    True
    """
    if not callable(getattr(model, "sample", None)):
        raise DataError(f"a population is drawn from a fitted model (release.TypeMixture), not {type(model).__name__}")
    seed = checked_seed(seed)
    return model.sample(n, seed).padded(seed)


def _within(x: Floats) -> Floats:
    n_types, k, n = x.shape
    table = np.zeros((n, n))
    for subset in chain.from_iterable(combinations(range(k), size) for size in range(1, k)):
        other = np.prod(1.0 - x[:, [s for s in range(k) if s not in subset]], axis=1) - 1.0
        table += other.T @ np.prod(-x[:, subset], axis=1)
    np.fill_diagonal(table, 0.0)
    # Symmetric but for rounding.
    return np.asarray((table + table.T) / (2.0 * n_types))


def n_terms(n_epochs: int, n_tokens: int) -> int:
    """Return the number of terms of J: :math:`r N + r N (N - 1) / 2 + (r - 1) N^2`."""
    return n_epochs * n_tokens * (n_tokens + 1) // 2 + (n_epochs - 1) * n_tokens**2
