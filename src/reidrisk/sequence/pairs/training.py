"""Training a pair network on users who are not among the targets."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from reidrisk.base.errors import DataError
from reidrisk.base.notes import Note
from reidrisk.base.parallel import slices
from reidrisk.base.progress import Progress, Stage
from reidrisk.base.streams import stream
from reidrisk.sequence.pairs.network import PairNetwork, Tower
from reidrisk.sequence.pairs.sizes import PairSchedule

Both = Callable[[Any, np.random.Generator | None], tuple[Any, Any, Tensor | None, Tensor | None]]
"""From rows to what the encoder takes of both observers' records of these users, and their tokens where traces.

With random numbers records may be changed to learn more from them; without they are as they are."""

_WARM = 100  # steps
_SLOWER = 0.3  # how much slower the encoder learns than the network on pairs, where it goes on learning
_ASKED = 2_000  # users held out, at most


@dataclass(eq=False)
class PairModel:
    """An encoder and a pair network, on one device."""

    encoder: Any
    network: PairNetwork
    curve: tuple[float, ...] = ()
    notes: tuple[Note, ...] = ()

    @property
    def device(self) -> torch.device:
        """Where they are."""
        return self.network.product.device

    def side(self, records: Any, tokens: Tensor | None, asked: bool) -> Tower:
        """Bring records through encoder and tower."""
        return self.network.side(self.encoder(records), tokens, asked)


def learn_pairs(model: PairModel, both: Both, n: int, plan: PairSchedule, seed: int, progress: Progress) -> PairModel:
    """Train until held-out users are found no more often; the best state counts.

    Loss is binary cross-entropy of one positive and ``plan.negatives`` negatives of each user, and with ``harder`` the
    cross-entropy of who of the batch it is, asked from both sides.
    """
    training, held_out = divided(n, plan, seed)
    asked = len(held_out)
    run = _Run(model, both, training, held_out, plan, seed)
    began = time.monotonic()
    run.look()  # where it starts may be the best it gets
    while run.step < plan.steps and not run.done:
        run.one_step()
        if run.step % plan.look_every == 0 or run.step == plan.steps:
            run.look()
            found = {"rank": run.curve[-1], "among": asked} if run.curve else {}
            stage = Stage("rank-found" if found else "rank-none", **found, seconds=time.monotonic() - began)
            progress(stage, run.step / plan.steps)
    return run.finish()


def divided(n: int, plan: PairSchedule, seed: int) -> tuple[Any, Any]:
    """Return the rows of users who train, and of those held out."""
    order = stream(seed, "pairs: held out").permutation(n)
    asked = min(_ASKED, max(2, round(n * plan.held_out)))
    if n - asked < 2:
        raise DataError(f"there are {n} training users; pairs need at least four")
    return order[asked:], np.sort(order[:asked])


@dataclass(eq=False)
class _Run:
    """Where a training stands."""

    model: PairModel
    both: Both
    training: Any
    held_out: Any
    plan: PairSchedule
    seed: int
    step: int = 0
    curve: list[float] = field(default_factory=list)
    best: int = -1
    done: bool = False
    notes: list[Note] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.device = self.model.device
        tuned = [p for p in self.model.encoder.parameters() if p.requires_grad] if self.plan.tune else []
        rate = self.plan.learning_rate
        groups = [{"params": list(self.model.network.parameters()), "lr": rate, "share": 1.0}]
        if tuned:
            groups.append({"params": tuned, "lr": rate * _SLOWER, "share": _SLOWER})
        self.adam = torch.optim.AdamW(groups, weight_decay=0.01, betas=(0.9, 0.98))
        self.parts = nn.ModuleList([self.model.network, self.model.encoder])
        self.good: dict[str, Tensor] | None = None
        self.losses = torch.zeros((), device=self.device)

    def one_step(self) -> None:
        """Take one step on users drawn at random."""
        rng = stream(self.seed, "pairs: batch", self.step)
        rows = rng.choice(self.training, min(self.plan.batch, len(self.training)), replace=False)
        self.parts.train()
        if not self.plan.tune:
            self.model.encoder.eval()
        for group in self.adam.param_groups:
            warm = min(1.0, (self.step + 1) / _WARM)
            cosine = 0.5 * (1.0 + math.cos(math.pi * self.step / self.plan.steps))
            group["lr"] = self.plan.learning_rate * group["share"] * warm * (0.02 + 0.98 * cosine)
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.device.type == "cuda"):
            logits = self._all_pairs(rows, rng)
        loss = self._loss(logits.float(), rng)
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(self.parts.parameters(), 1.0)
        self.adam.step()
        self.adam.zero_grad(set_to_none=True)
        self.losses += loss.detach()
        self.step += 1

    def _all_pairs(self, rows: Any, rng: np.random.Generator) -> Tensor:
        one, two, known, shown = self.both(rows, rng)
        targets = self.model.side(one, known, asked=False)
        queries = self.model.side(two, shown, asked=True)
        return self.model.network.logits(queries, targets)

    def _loss(self, logits: Tensor, rng: np.random.Generator) -> Tensor:
        b = len(logits)
        own = torch.arange(b, device=logits.device)
        away = rng.integers(1, b, size=(b, min(self.plan.negatives, b - 1)))
        others = (own[:, None] + torch.from_numpy(away).to(logits.device)) % b
        wrong = torch.gather(logits, 1, others)
        right = logits[own, own]
        loss = (F.softplus(-right) + F.softplus(wrong).sum(dim=1)).mean() / (1 + wrong.shape[1])
        if self.plan.harder:
            loss = loss + 0.5 * (F.cross_entropy(logits, own) + F.cross_entropy(logits.T, own))
        return loss

    def look(self) -> None:
        """See at which ranks held-out users are found among each other: the mean of the reciprocal."""
        share = self._found() if math.isfinite(float(self.losses)) else math.nan
        self.losses.zero_()
        if not math.isfinite(share):
            self.notes.append(Note("training-not-finite", step=self.step, kept=self.best + 1))
            self.done = True
            return
        self.curve.append(share)
        if self.best < 0 or share > self.curve[self.best]:
            self.best = len(self.curve) - 1
            self.good = {name: value.detach().clone() for name, value in self.parts.state_dict().items()}
        elif len(self.curve) - 1 - self.best >= self.plan.patience:
            self.done = True

    def _found(self) -> float:
        self.parts.eval()
        one, two, known, shown = self.both(self.held_out, None)
        with torch.inference_mode():
            targets, queries = self.model.side(one, known, asked=False), self.model.side(two, shown, asked=True)
            right = 0.0
            for part in slices(len(queries.vector), 64):
                scores = self.model.network.logits(queries.rows(part), targets)
                own = scores[torch.arange(len(scores)), torch.arange(len(scores)) + part.start]
                # Ranks tell more of few users than how often the first is right.
                right += float((1.0 / (scores >= own[:, None]).sum(dim=1)).sum())
                right += float("nan") if not bool(torch.isfinite(scores).all()) else 0.0
        return right / len(queries.vector)

    def finish(self) -> PairModel:
        """Return the best state."""
        if self.good is None:
            raise DataError(f"the loss is no number after {self.step} steps; lower the learning rate")
        self.parts.load_state_dict(self.good)
        self.parts.eval()
        self.model.curve, self.model.notes = tuple(self.curve), tuple(self.notes)
        return self.model
