"""Information: how many bits per epoch a record holds, and how many of them a second observer's record shares.

Estimated from records; :mod:`reidrisk.measure.bits` has what follows from a known distribution.
"""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from reidrisk.base import DataError, Note, OptionError, Spoken, between_0_and_1, checked_seed, stream
from reidrisk.base.arrays import Floats, Ints
from reidrisk.base.progress import Progress, Stage, Steps, silent
from reidrisk.measure.bits import Bits, Information
from reidrisk.records import Traces
from reidrisk.records.base import check_same_rows
from reidrisk.sequence import Schedule, Sizes

Method = Literal["plug-in", "miller-madow", "sequence"]
_DRAWS, _GROUPS = 1_000, 1_000  # of the bootstrap; more users than groups are put together at random


@dataclass(frozen=True, eq=False)
class Independence(Spoken):
    """M* / r beside the mean of the single-epoch terms: how much the order and company of epochs tell (carey, F.1).

    ``together`` is measured on whole records, ``apart`` on one epoch at a time; ``gap`` is the difference of their
    mutual information. Where epochs are independent of each other it is 0.
    """

    together: Information
    apart: Information
    gap: Bits


def information(
    one: Traces,
    two: Traces,
    method: Method = "sequence",
    preset: str | Sizes = "small",
    schedule: Schedule | None = None,
    seed: int = 0,
    level: float = 0.95,
    *,
    device: str | None = None,
    progress: Progress | None = None,
) -> Information:
    r"""Estimate H(B), H(B | A) and I(A; B) in bits per epoch, where A and B are what two observers saw (carey, F.1).

    Row i of both tables is the same user; only what both observed is counted by the two methods on counts.

    - ``"plug-in"``: shares are taken for probabilities, each epoch by itself, and the mean over epochs is returned. Of
      several epochs this is the sum of single-epoch terms divided by r, not I of the whole records. It finds
      information where there is none: about (m_A - 1)(m_B - 1) / (2 n ln 2) bits of n users.
    - ``"miller-madow"``: the same with (m - 1) / (2n) nats added to each entropy of m values that occur; the
      correction falls short where most pairs of values occur once or never.
    - ``"sequence"``: two sequence models of whole records learn P(B | A) and P(B), the second from one special token
      instead of A; their cross-entropies on held-out users stand for the entropies. Needs the extra ``neural``.

    **What a sequence estimate is.** Each cross-entropy is, in expectation, at least the entropy: H(B) + KL. The
    difference of two of them is I(A; B) + KL(unconditional) - KL(conditional), so it bounds mutual information in
    neither direction. It is near where both models are, and the conditional one has more to learn, so that too few
    users or too small a model usually make it too low. A low number is no proof that little is shared.

    Intervals are bootstraps over measured users at ``level``: they allow for other users, not for other models.

    >>> from reidrisk.measure import exact_information
    >>> rng = np.random.default_rng(0)
    >>> a = rng.integers(3, size=(20_000, 1))
    >>> b = np.where(rng.random((20_000, 1)) < 0.5, a, rng.integers(3, size=(20_000, 1)))
    >>> found = information(Traces(a, 3), Traces(b, 3), method="miller-madow")
    >>> abs(found.mutual.value - exact_information(np.eye(3) / 6 + 1 / 18).mutual.value) < 0.02
    True
    """
    _check_pair(one, two)
    level, seed = between_0_and_1("level", level), checked_seed(seed)
    if method == "sequence":
        return _by_sequence(one, two, preset, schedule, (seed, level), device, progress)
    if method not in ("plug-in", "miller-madow"):
        raise OptionError(f"method must be plug-in, miller-madow or sequence, not {method!r}")
    return _by_counts(one, two, method == "miller-madow", seed, level)


def independence(
    one: Traces,
    two: Traces,
    single: Method = "sequence",
    preset: str | Sizes = "small",
    schedule: Schedule | None = None,
    seed: int = 0,
    level: float = 0.95,
    *,
    device: str | None = None,
    progress: Progress | None = None,
) -> Independence:
    r"""Compare M* = I(A^1 … A^r; B^1 … B^r) with the sum over s of I(A^s; B^s), both divided by r (carey, F.1).

    Where epochs are independent of each other the two are equal. M* comes from sequence models; the single terms by
    ``single``: from sequence models of the first epoch, which then stands for all, or from counts of every epoch. The
    interval of the gap adds up those of its two sides.
    """
    _check_pair(one, two)
    steps = Steps(progress, 3.0)
    whole: dict[str, Any] = {"preset": preset, "schedule": schedule, "seed": seed, "level": level, "device": device}
    together = information(one, two, progress=steps.within("whole-records", 2.0), **whole)
    within = steps.within("one-epoch", 1.0)
    first = (one.epochs(1), two.epochs(1)) if single == "sequence" else (one, two)
    apart = information(*first, method=single, progress=within, **whole)
    gap, a, b = together.mutual.value - apart.mutual.value, together.mutual, apart.mutual
    return Independence(
        together,
        apart,
        Bits(gap, gap - (a.value - a.low) - (b.high - b.value), gap + (a.high - a.value) + (b.value - b.low)),
    )


def _check_pair(one: Any, two: Any) -> None:
    for records in (one, two):
        if not isinstance(records, Traces):
            raise DataError(f"information is measured on Traces, not on {type(records).__name__}")
    check_same_rows(one, two)


def _by_sequence(
    one: Traces,
    two: Traces,
    preset: str | Sizes,
    schedule: Schedule | None,
    drawn: tuple[int, float],
    device: str | None,
    progress: Progress | None,
) -> Information:
    from reidrisk.sequence import train

    seed, level = drawn
    alone, given = (
        train(
            source,
            two.tokens,
            two.n_tokens,
            preset,
            schedule,
            seed,
            device=device,
            progress=_half(progress or silent, stage, behind),
        )
        for stage, source, behind in (("entropy", None, 0.0), ("conditional-entropy", one.tokens, 0.5))
    )
    per_user = np.stack([alone.nats, given.nats], axis=1) / np.log(2.0)
    notes = [Note("difference-of-cross-entropies", users=alone.n_training), *alone.notes, *given.notes]
    return _summary(np.column_stack([per_user, alone.observed]), np.zeros(2), two, "sequence", (seed, level), notes)


def _half(progress: Progress, stage: str, behind: float) -> Progress:
    """Return the progress of one of two halves; it says the stage, and what the model says of itself."""
    return lambda said, share: progress(Stage(stage, said=said), behind + share / 2.0)


def _by_counts(one: Traces, two: Traces, corrected: bool, seed: int, level: float) -> Information:
    n, r, size = len(two), two.n_epochs, two.n_tokens
    per_user, added, seen_in = np.zeros((n, 3)), np.zeros((2, r)), np.zeros(r)
    for epoch in range(r):
        both = np.flatnonzero((one.tokens[:, epoch] >= 0) & (two.tokens[:, epoch] >= 0))
        if not both.size:
            continue
        a, b = (table.tokens[both, epoch].astype(np.int64) for table in (one, two))
        of_pair, n_pairs = _counts(a * size + b)
        (of_a, n_a), (of_b, n_b) = _counts(a), _counts(b)
        per_user[both, 0] += np.log2(len(both) / of_b)
        per_user[both, 1] += np.log2(of_a / of_pair)
        per_user[both, 2] += 1.0
        added[:, epoch] = np.array([n_b - 1, n_pairs - n_a]) / (2.0 * len(both) * np.log(2.0))
        seen_in[epoch] = len(both)
    if not per_user[:, 2].any():
        raise DataError("no user was seen by both observers in any epoch; there is nothing to measure")
    shift = (added * seen_in).sum(axis=1) / seen_in.sum() if corrected else np.zeros(2)
    notes = [Note("epochs-apart", epochs=r)] if r > 1 else []
    method = "miller-madow" if corrected else "plug-in"
    return _summary(per_user, shift, two, method, (seed, level), notes)


def _counts(values: Ints) -> tuple[Ints, int]:
    """Return how often the value of each row occurs, and the number of different values."""
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    return count[place], len(count)


def _summary(
    per_user: Floats, shift: Floats, table: Traces, method: str, drawn: tuple[int, float], notes: list[Note]
) -> Information:
    """Return the means over users, shifted, with bootstrap intervals over users."""
    seed, level = drawn
    h, c, observed = per_user.sum(axis=0)
    means = np.array([h, c, h - c]) / observed + np.append(shift, shift[0] - shift[1])
    spread = _bootstrap(per_user, seed)
    tails = np.quantile(spread, [(1.0 - level) / 2.0, (1.0 + level) / 2.0], axis=0)
    offset = means - np.array([h, c, h - c]) / observed
    low, high = tails + offset
    entropy, conditional, mutual = (Bits(float(means[i]), float(low[i]), float(high[i])) for i in range(3))
    missing = 1.0 - observed / (len(per_user) * table.n_epochs)
    if missing > 0.0:
        notes.append(Note("epochs-not-observed", share=float(missing)))
    return Information(
        entropy,
        conditional,
        mutual,
        n_epochs=table.n_epochs,
        method=method,
        n_users=len(table),
        n_measured=len(per_user),
        level=level,
        seed=seed,
        notes=tuple(notes),
        per_user=per_user,
    )


def _bootstrap(per_user: Floats, seed: int) -> Floats:
    """Return (draws, 3): entropy, conditional entropy and their difference of users drawn with replacement."""
    rng = stream(seed, "information: bootstrap")
    n = len(per_user)
    groups = min(n, _GROUPS)
    order = rng.permutation(n)
    sums = np.add.reduceat(per_user[order], np.linspace(0, n, groups, endpoint=False).astype(np.int64), axis=0)
    times = rng.multinomial(groups, np.full(groups, 1.0 / groups), size=_DRAWS)
    h, c, observed = (times @ sums).T
    observed = np.maximum(observed, 1e-12)
    return np.stack([h / observed, c / observed, (h - c) / observed], axis=1)
