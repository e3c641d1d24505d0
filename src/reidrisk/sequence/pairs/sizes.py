"""Sizes of a pair network and the schedule of its training: plain values."""

from __future__ import annotations

from dataclasses import dataclass

from reidrisk.base.errors import OptionError
from reidrisk.base.options import between_0_and_1, from_0_to_1, whole


@dataclass(frozen=True)
class PairSizes:
    """How large a pair network is: towers of ``tower`` and ``width`` units, and a layer of ``hidden`` units on pairs.

    ``items`` is the width of an item in the set encoder of bags; traces have that of their sequence model.
    """

    tower: int = 256
    width: int = 64
    hidden: int = 64
    items: int = 64
    dropout: float = 0.1

    def __post_init__(self) -> None:
        for name in ("tower", "width", "hidden", "items"):
            whole(name, getattr(self, name), least=2)
        from_0_to_1("dropout", self.dropout)


@dataclass(frozen=True)
class PairSchedule:
    """How pairs are learnt.

    A step takes ``batch`` users: one positive pair each, and ``negatives`` pairs with others of the batch. With
    ``harder``, everyone else of the batch competes for each record as well: the loss gets a second term, the
    cross-entropy of who of them it is. The same scores, log P(pair | one user) / P(pair | two users) up to a constant,
    are the best for both. ``tune`` lets the encoder go on learning with the pairs. At a share of ``shorter`` steps only
    the first few epochs of traces are shown, the rest is missing: so that shorter records are linked, too. Training
    ends after ``steps``, or after ``patience`` looks, ``look_every`` steps apart, at which users held out were found no
    more often.
    """

    batch: int = 256
    negatives: int = 10
    harder: bool = True
    tune: bool = True
    steps: int = 2_000
    look_every: int = 200
    patience: int = 4
    learning_rate: float = 2e-3
    held_out: float = 0.1
    shorter: float = 0.0

    def __post_init__(self) -> None:
        for name in ("negatives", "steps", "look_every", "patience"):
            whole(name, getattr(self, name))
        whole("batch", self.batch, least=2)
        between_0_and_1("held_out", self.held_out)
        from_0_to_1("shorter", self.shorter)
        if not self.learning_rate > 0:
            raise OptionError(f"learning_rate must be above 0, not {self.learning_rate!r}")
