"""Training a sequence model: held-out users say when to stop, and a checkpoint continues where it was left."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch

from reidrisk.base.arrays import Ints
from reidrisk.base.errors import DataError
from reidrisk.base.notes import Note
from reidrisk.base.progress import Progress, Stage, silent
from reidrisk.base.streams import checked_seed, stream
from reidrisk.io.atomic import PathLike, write_atomically
from reidrisk.sequence.network import Network, nats
from reidrisk.sequence.sizes import Schedule, Sizes, as_plain, chosen
from reidrisk.sequence.trained import Trained, checked, copied, evaluate, read

CHECKPOINT = "reidrisk sequence checkpoint 1"
_LEAST = 10  # users
_MOST_STEPS = 1_000  # between two looks, by default
_LONG = 10_000  # steps from which on compiling, half a minute, pays on a GPU
_LAST_RATE = 0.02  # of the learning rate at the end of the schedule
_SURELY = 1e-4  # bits by which a look must be better than the best before


def train(
    source: Any,
    target: Any,
    n_tokens: int,
    preset: str | Sizes = "small",
    schedule: Schedule | None = None,
    seed: int = 0,
    *,
    device: str | None = None,
    checkpoint: PathLike | None = None,
    progress: Progress | None = None,
) -> Trained:
    """Train a model of P(target | source), or of P(target) where ``source`` is None (carey, F.1.2).

    ``source`` and ``target`` (n, r) hold the tokens that two observers saw of the same users, -1 = not observed. Loss
    is the mean of -log P over observed tokens; Adam with a warm-up and a cosine; on a GPU in bfloat16, and compiled
    where it is long enough. Same seed, same model on the processor; on a GPU on the same machine. ``checkpoint`` is a
    file to continue from if it is there, written at each look; on the processor the result is the same to the last bit.

    Where the loss is no longer a number, training stops, the last good state counts, and a note says so.

    >>> rng = np.random.default_rng(0)
    >>> seen = rng.integers(4, size=(400, 2))
    >>> sizes = Sizes(width=8, heads=1, mlp=8, encoder_layers=1, decoder_layers=1)
    >>> short = Schedule(batch=64, passes=2)
    >>> found = train(None, seen, 4, sizes, short)
    >>> bool(1.9 < found.bits < 2.3), found.conditional
    (True, False)
    """
    known = checked(target, n_tokens)
    sizes, plan = chosen(preset, len(known), schedule)
    given = None if source is None else checked(source, n_tokens, known.shape[1])
    if given is not None and len(given) != len(known):
        raise DataError(f"source has {len(given):,} users, target {len(known):,}; row i of both must be the same user")
    where = device or ("cuda" if torch.cuda.is_available() else "cpu")
    parts = split(len(known), plan.held_out, checked_seed(seed))
    with torch.random.fork_rng(devices=range(torch.cuda.device_count()) if where.startswith("cuda") else []):
        torch.manual_seed(int(stream(seed, "sequence: start").integers(2**62)))
        network = Network(sizes, n_tokens, known.shape[1])
        _start_at_popularity(network, known[parts.training])
        run = _Run(network.to(where), plan, given, known, parts, seed, progress or silent)
        if checkpoint is not None:
            run.file = Path(checkpoint)
            run.resume()
        run.go()
    return run.finish()


@dataclass(frozen=True, eq=False)
class UserSplit:
    """Rows of users who train, who decide when to stop, and who are measured."""

    training: Ints
    stopping: Ints
    measured: Ints


def split(n: int, held_out: float, seed: int) -> UserSplit:
    """Divide users at random; same number, share and seed, same users.

    >>> parts = split(100, 0.2, seed=0)
    >>> len(parts.training), len(parts.stopping), len(parts.measured)
    (80, 10, 10)
    """
    if n < _LEAST:
        raise DataError(f"there are {n} users; a model needs at least {_LEAST} to hold some out")
    order = stream(seed, "sequence: held out").permutation(n)
    half = max(1, round(n * held_out / 2))
    if 2 * half >= n:
        raise DataError(f"of {n} users none is left to train on; hold out a smaller share than {held_out}")
    return UserSplit(np.sort(order[2 * half :]), np.sort(order[:half]), np.sort(order[half : 2 * half]))


@dataclass(eq=False)
class _Run:
    """Where a training stands."""

    network: Network
    plan: Schedule
    source: Any
    target: Any
    parts: UserSplit
    seed: int
    progress: Progress
    file: Path | None = None
    step: int = 0
    curve: list[float] = field(default_factory=list)
    best: int = -1
    notes: list[Note] = field(default_factory=list)
    done: bool = False

    def __post_init__(self) -> None:
        self.device = self.network.place.device
        on_gpu = self.device.type == "cuda"
        training = self.parts.training
        self.rows = torch.from_numpy(self.target[training]).to(self.device)
        self.given = None if self.source is None else torch.from_numpy(self.source[training]).to(self.device)
        self.batch = min(self.plan.batch, len(training))
        self.per_pass = len(training) // self.batch
        self.total = self.per_pass * self.plan.passes
        self.every = self.plan.look_every or min(self.per_pass, _MOST_STEPS)
        self.adam = torch.optim.AdamW(
            self.network.parameters(), lr=self.plan.learning_rate, betas=(0.9, 0.98), weight_decay=0.01, fused=on_gpu
        )
        self.forward: Any = torch.compile(self.network) if on_gpu and self.total >= _LONG else self.network
        self.good: dict[str, Any] | None = None
        self._shuffled = -1, torch.zeros(0, dtype=torch.long)

    def go(self) -> None:
        """Train until the schedule ends, held-out users see no progress, or the loss is no number."""
        began, losses = time.monotonic(), torch.zeros((), device=self.device)
        while not self.done and self.step < self.total:
            losses += self._one_step()
            self.step += 1
            if self.step % self.every == 0 or self.step == self.total:
                self._look(float(losses))
                losses.zero_()
                found = {"bits": self.curve[-1]} if self.curve else {}
                stage = Stage("bits-found" if found else "bits-none", **found, seconds=time.monotonic() - began)
                self.progress(stage, self.step / self.total)

    def _one_step(self) -> torch.Tensor:
        self.network.train()
        rows = self._order()
        for group in self.adam.param_groups:
            group["lr"] = self.plan.learning_rate * _rate(self.step, self.total, self.plan.warm_up)
        total = torch.zeros((), device=self.device)
        part = -(-len(rows) // self.plan.accumulate)
        seen = (self.rows[rows] >= 0).sum().clamp(min=1)
        for start in range(0, len(rows), part):
            target = self.rows[rows[start : start + part]].long()
            asked = self.network.nothing(target)
            if self.given is not None:
                asked = self.given[rows[start : start + part]].long()
            with torch.autocast(self.device.type, torch.bfloat16, enabled=self.device.type == "cuda"):
                logits = self.forward(asked, target)
            loss = nats(logits, target).sum() / seen
            loss.backward()  # type: ignore[no-untyped-call]
            total += loss.detach()
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), 1.0)
        self.adam.step()
        self.adam.zero_grad(set_to_none=True)
        return total

    def _order(self) -> torch.Tensor:
        """Return the rows of this step: every pass has an order of its own, which depends on the seed alone."""
        number, place = divmod(self.step, self.per_pass)
        if self._shuffled[0] != number:
            order = stream(self.seed, "sequence: order", number).permutation(len(self.rows))
            self._shuffled = number, torch.from_numpy(order).to(self.device)
        return self._shuffled[1][place * self.batch : (place + 1) * self.batch]

    def _look(self, losses: float) -> None:
        bits = self._stopping_bits() if math.isfinite(losses) else math.nan
        if not math.isfinite(bits):
            self.notes.append(Note("training-not-finite", step=self.step, kept=self.best + 1))
            self.done = True
            return
        self.curve.append(bits)
        if self.best < 0 or bits < self.curve[self.best] - _SURELY:
            self.best, self.good = len(self.curve) - 1, copied(self.network)
        elif len(self.curve) - 1 - self.best >= self.plan.patience:
            self.done = True
        if self.file is not None:
            self._save()

    def _stopping_bits(self) -> float:
        rows = self.parts.stopping
        total, seen = evaluate(self.network, None if self.source is None else self.source[rows], self.target[rows])
        return float(total.sum() / math.log(2.0) / max(1, int(seen.sum())))

    def _identity(self) -> dict[str, Any]:
        shape = {"n_tokens": self.network.n_tokens, "n_epochs": self.network.n_epochs, "users": len(self.target)}
        plans = {"sizes": as_plain(self.network.sizes), "schedule": as_plain(self.plan)}
        sums = [0 if part is None else int(np.sum(part, dtype=np.int64)) for part in (self.source, self.target)]
        return shape | plans | {"seed": self.seed, "conditional": self.source is not None, "sums": sums}

    def _save(self) -> None:
        state = {
            "format": CHECKPOINT,
            "of": self._identity(),
            "network": self.network.state_dict(),
            "good": self.good,
            "adam": self.adam.state_dict(),
            "random": torch.get_rng_state(),
            "random_gpu": torch.cuda.get_rng_state(self.device) if self.device.type == "cuda" else None,
            "where": [self.step, self.best, int(self.done)],
            "curve": self.curve,
        }
        assert self.file is not None
        with write_atomically(self.file) as temporary:
            torch.save(state, temporary)

    def resume(self) -> None:
        """Continue from the checkpoint, if there is one; one of another training is refused."""
        if self.file is None or not self.file.exists():
            return
        held = read(self.file, CHECKPOINT)
        if held["of"] != self._identity():
            raise DataError(f"{self.file} is a checkpoint of another training; remove it, or name another file")
        self.network.load_state_dict(held["network"])
        self.adam.load_state_dict(held["adam"])
        torch.set_rng_state(held["random"])
        if held["random_gpu"] is not None and self.device.type == "cuda":
            torch.cuda.set_rng_state(held["random_gpu"], self.device)
        self.good, self.curve = held["good"], list(held["curve"])
        self.step, self.best, self.done = held["where"][0], held["where"][1], bool(held["where"][2])

    def finish(self) -> Trained:
        """Return the best state, and what it says about the users to measure."""
        if self.good is None:
            raise DataError(
                f"the loss is no number after {self.step} steps, before any good state; lower the learning rate"
            )
        self.network.load_state_dict(self.good)
        rows = self.parts.measured
        found, seen = evaluate(self.network, None if self.source is None else self.source[rows], self.target[rows])
        return Trained(
            network=self.network,
            conditional=self.source is not None,
            nats=found,
            observed=seen,
            curve=tuple(self.curve),
            best=self.best,
            steps=self.step,
            n_training=len(self.parts.training),
            seed=self.seed,
            notes=tuple(self.notes),
            measured=rows,
        )


def _rate(step: int, total: int, warm_up: int) -> float:
    """Return the share of the learning rate: rising in a line, then falling along a cosine."""
    warm = min(warm_up, max(1, total // 5))
    if step < warm:
        return (step + 1) / warm
    cosine = 0.5 * (1.0 + math.cos(math.pi * (step - warm) / max(1, total - warm)))
    return _LAST_RATE + (1.0 - _LAST_RATE) * cosine


def _start_at_popularity(network: Network, tokens: Any) -> None:
    """Let the network begin with how common each token is, so that it need not learn that first."""
    counts = np.bincount(tokens[tokens >= 0].ravel(), minlength=network.n_tokens) + 0.5
    with torch.no_grad():
        network.out.bias.copy_(torch.from_numpy(np.log(counts / counts.sum())))
        network.out.weight.mul_(0.1)
