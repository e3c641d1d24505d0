"""Fitting a mixture of types to statistics: full-batch Adam on a CPU or a GPU (dick, Section 5.1).

The gradients of J are around 1e-12, below the usual epsilon of Adam (1e-8), which would turn it into plain momentum;
here it is 1e-20. It starts at the popularity of the tokens and follows a cosine schedule; see docs/benchmarks.md.
"""

import hashlib
import math
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from reidrisk.base import (
    FormatError,
    OptionError,
    Progress,
    ReidRiskError,
    Stage,
    checked_seed,
    require,
    sizes,
    stream,
    whole,
)
from reidrisk.base.arrays import Array, Singles
from reidrisk.io.atomic import PathLike, write_atomically
from reidrisk.populations.type_mixture import FitReport, TypeMixture
from reidrisk.release.counts.layout import read_arrays
from reidrisk.release.counts.statistics import Statistics
from reidrisk.release.model.objective import Objective

BETAS = (0.9, 0.98)
START = 1.0  # standard deviation of the logits around the popularity of their token
LEVEL = 1e-3  # in the last fifth of the schedule, the share of J by which it must fall within a twentieth of it
_RARE = 1e-6  # popularity below which the start makes no difference between tokens
_EVERY = 50  # steps between two looks at J
_KEEP_EVERY = 2.0  # seconds between two copies of the state in memory: what an interrupt leaves as a checkpoint
_SAVE_EVERY = 60.0  # seconds between two checkpoints
_MOST_SLOTS = 16  # the work grows with 2^k


def fit_mixture(
    statistics: Statistics,
    n_types: int = 500,
    n_epochs: int = 4,
    seed: int = 0,
    *,
    steps: int = 2000,
    learning_rate: float = 0.1,
    device: str | None = None,
    checkpoint: PathLike | None = None,
    keep_checkpoint: bool = False,
    progress: Progress | None = None,
) -> TypeMixture:
    """Fit theta so that the model's statistics of every epoch are near the given ones: the least J that is found.

    The targets are the same for every epoch; there may be any number of epochs, whatever the data have. ``seed`` is
    that of the start: same seed, same machine, same model; another device (default: ``"cuda"`` where there is one)
    rounds differently. ``checkpoint`` is a file to continue from if it is there, written every minute and on an
    interrupt, and removed at the end unless ``keep_checkpoint`` leaves that to the caller.

    >>> from reidrisk import TopSets, release
    >>> sets = TopSets([[[0, 1], [0, 1]], [[2, 3], [2, 3]]] * 500, n_tokens=4)
    >>> stats = release.statistics(sets, epsilon=1.0, delta=1e-6, simulation=True, seed=0)
    >>> model = fit_mixture(stats, n_types=4, n_epochs=3, steps=200)
    >>> model, model.report.objective < 1e-3
    (TypeMixture(4 types, 3 epochs, sets of 2 out of 4 tokens), True)
    """
    torch = require("torch", "release", "fitting a model")
    n_types, n_epochs, steps = whole("n_types", n_types), whole("n_epochs", n_epochs), whole("steps", steps)
    size = n_types * n_epochs * statistics.k * statistics.n_tokens
    sizes.NUMBERS.check(size, "the model", "take fewer types or epochs")
    sizes.STEPS.check(steps, "the fit", "take fewer")
    if not (math.isfinite(learning_rate) and learning_rate > 0.0):
        raise OptionError(f"learning_rate must be a finite number above 0, not {learning_rate!r}")
    if statistics.k > _MOST_SLOTS:
        raise OptionError(f"sets of {statistics.k} tokens are too large to fit; {_MOST_SLOTS} tokens at most")
    device = _usable(torch, device or ("cuda" if torch.cuda.is_available() else "cpu"))
    objective = Objective(statistics.single, statistics.within, statistics.across, device)
    theta = torch.tensor(_start(statistics, n_types, n_epochs, checked_seed(seed)), device=device).requires_grad_()
    adam = torch.optim.Adam([theta], lr=learning_rate, betas=BETAS, eps=1e-20)
    settings = (n_types, n_epochs, seed, steps, learning_rate, statistics.k)
    state = _State(adam, theta, _digest(statistics, settings), None if checkpoint is None else Path(checkpoint))
    state.resume(torch)

    began, stopped = time.monotonic(), "all steps done"
    try:
        while state.step < steps:
            adam.param_groups[0]["lr"] = learning_rate * 0.5 * (1.0 + math.cos(math.pi * state.step / steps))
            value, theta.grad = objective(theta)
            adam.step()
            state.step += 1
            if state.step % _EVERY == 0 or state.step == steps:
                state.note(float(value))
                if progress is not None:
                    progress(Stage("fitting", objective=float(value)), state.step / steps)
                if state.step > 0.8 * steps and _levelled_off(state.curve, steps):
                    stopped = "levelled off"
                    break
            state.keep(time.monotonic() - began)
    except KeyboardInterrupt:
        state.save()
        raise
    # The objective returns J before the step; the model is what comes after it.
    final = float(objective(theta)[0])
    if not keep_checkpoint:
        state.remove()
    seconds = state.seconds + time.monotonic() - began
    report = FitReport(final, state.step, seconds, stopped, device, int(seed), learning_rate, tuple(state.curve))
    statement = statistics.statement
    if statement is not None:
        statement = statement.after(f"a mixture of {n_types} types over {n_epochs} epochs was fitted")
    return TypeMixture(theta.detach().cpu().numpy(), statistics.vocabulary, statement, report)


def _former_fit(_: type[TypeMixture], *arguments: Any, **named: Any) -> TypeMixture:
    warnings.warn("TypeMixture.fit is now release.fit_mixture", DeprecationWarning, stacklevel=2)
    return fit_mixture(*arguments, **named)


TypeMixture.fit = classmethod(_former_fit)  # type: ignore[assignment]


def _usable(torch: Any, device: str) -> str:
    try:
        torch.zeros(1, device=device)
    except (RuntimeError, AssertionError, NotImplementedError, ImportError, TypeError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0][:100].rstrip(".")
        raise OptionError(f"device {device!r} cannot be used here ({reason}); give 'cpu', or leave it out") from error
    return device


def _start(statistics: Statistics, n_types: int, n_epochs: int, seed: int) -> Singles:
    # Drawn by NumPy on the CPU, so that every device starts at the same place.
    shape = (n_types, n_epochs, statistics.k, statistics.n_tokens)
    drawn = stream(seed, "release fit").standard_normal(shape, dtype=np.float32) * np.float32(START)
    return np.asarray(drawn + np.log(np.maximum(statistics.single, _RARE)).astype(np.float32))


def _levelled_off(curve: list[tuple[int, float]], steps: int) -> bool:
    now, value = curve[-1]
    before = [j for step, j in curve if step <= now - steps / 20]
    return bool(before) and before[-1] - value < LEVEL * before[-1]


def _digest(statistics: Statistics, settings: tuple[Any, ...]) -> str:
    digest = hashlib.sha256(repr(settings).encode())
    for values in (statistics.single, statistics.within, statistics.across):
        digest.update(np.ascontiguousarray(values).tobytes())
    return digest.hexdigest()


class _State:
    """Where a fit stands; what a checkpoint holds."""

    def __init__(self, adam: Any, theta: Any, digest: str, file: Path | None) -> None:
        self.adam, self.theta, self.digest, self.file = adam, theta, digest, file
        self.step, self.seconds = 0, 0.0
        self.curve: list[tuple[int, float]] = []
        self.kept: dict[str, Array] | None = None
        self.kept_at = self.saved_at = 0.0

    def note(self, value: float) -> None:
        if not math.isfinite(value):
            raise ReidRiskError(f"the fit broke down at step {self.step} (J = {value}); try a smaller learning_rate")
        self.curve.append((self.step, value))

    def keep(self, seconds: float) -> None:
        """Copy the state between two steps, where it is whole; an interrupt may come within one."""
        if self.file is None or seconds - self.kept_at < _KEEP_EVERY:
            return
        self.kept_at = seconds
        moments = self.adam.state[self.theta]
        self.kept = {
            "theta": self.theta.detach().cpu().numpy().copy(),
            "first": moments["exp_avg"].cpu().numpy().copy(),
            "second": moments["exp_avg_sq"].cpu().numpy().copy(),
            "curve": np.array(self.curve, dtype=np.float64).reshape(-1, 2),
            "step": np.array(self.step),
            "seconds": np.array(self.seconds + seconds),
            "digest": np.array(self.digest),
        }
        if seconds - self.saved_at > _SAVE_EVERY:
            self.saved_at = seconds
            self.save()

    def save(self) -> None:
        if self.file is None or self.kept is None:
            return
        with write_atomically(self.file) as temporary, open(temporary, "wb") as file:
            np.savez(file, allow_pickle=False, **self.kept)

    def resume(self, torch: Any) -> None:
        if self.file is None or not self.file.exists():
            return
        complaint = f"{self.file}: it is no checkpoint of a fit, or a damaged one; remove it to start afresh"
        found = read_arrays(self.file, complaint)
        try:
            digest, step, seconds = str(found["digest"]), int(found["step"]), float(found["seconds"])
            moments, curve = [found[name] for name in ("theta", "first", "second")], found["curve"]
        except (ValueError, TypeError, KeyError, OverflowError) as error:
            raise FormatError(complaint) from error
        if digest != self.digest:
            raise OptionError(f"{self.file}: it is of other statistics or settings; remove it, or name another file")
        shape = tuple(self.theta.shape)
        # The library would spread a single number over all parameters.
        for name, part in zip(("theta", "first", "second"), moments, strict=True):
            if part.shape != shape or part.dtype != np.float32 or not np.isfinite(part).all():
                raise FormatError(f"{complaint} ({name!r} is no array of finite numbers of shape {shape})")
        if curve.ndim != 2 or curve.shape[1] != 2 or curve.dtype.kind not in "fiu" or not np.isfinite(curve).all():
            raise FormatError(f"{complaint} ('curve' is no list of steps and values)")
        if step < 0 or (moments[2] < 0).any() or not 0.0 <= seconds < math.inf:
            raise FormatError(f"{complaint} (a step, a time or a square is below 0)")
        theta, first, second = (torch.tensor(part, device=self.theta.device) for part in moments)
        with torch.no_grad():
            self.theta.copy_(theta)
        state = {"step": torch.tensor(float(step)), "exp_avg": first, "exp_avg_sq": second}
        self.adam.load_state_dict({"state": {0: state}, "param_groups": self.adam.state_dict()["param_groups"]})
        self.step, self.seconds = step, seconds
        self.curve = [(int(at), float(value)) for at, value in curve]

    def remove(self) -> None:
        if self.file is not None:
            self.file.unlink(missing_ok=True)
