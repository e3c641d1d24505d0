"""Sizes of a sequence model and the schedule of its training, plain values; presets ``small`` and ``paper``."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from reidrisk.base.errors import OptionError
from reidrisk.base.options import between_0_and_1, from_0_to_1, one_of, whole

Decoder = Literal["transformer", "lstm"]


@dataclass(frozen=True)
class Sizes:
    """How large a sequence model is (carey, Table 1).

    A Transformer encoder reads the source; the ``decoder`` is a Transformer or an LSTM that looks at the encoder's
    states. ``width`` is that of tokens, states and attention, ``hidden`` that of the LSTM.

    >>> PRESETS["paper"].width, PRESETS["paper"].with_decoder("lstm").decoder_layers
    (1024, 8)
    """

    width: int = 64
    heads: int = 4
    mlp: int = 256
    encoder_layers: int = 2
    decoder_layers: int = 2
    hidden: int = 64
    dropout: float = 0.1
    attention_dropout: float = 0.1
    decoder: Decoder = "transformer"

    def __post_init__(self) -> None:
        for name in ("width", "heads", "mlp", "encoder_layers", "decoder_layers", "hidden"):
            whole(name, getattr(self, name))
        for name in ("dropout", "attention_dropout"):
            from_0_to_1(name, getattr(self, name))
        if self.width % self.heads:
            raise OptionError(f"width must be a multiple of the {self.heads} heads, not {self.width}")
        one_of("decoder", self.decoder, get_args(Decoder))

    def with_decoder(self, decoder: Decoder) -> Sizes:
        """Return the same with this decoder; the LSTM of the paper has 8 layers where its Transformer has 6."""
        layers = 8 if decoder == "lstm" and self == PRESETS["paper"] else self.decoder_layers
        return replace(self, decoder=decoder, decoder_layers=layers)


@dataclass(frozen=True)
class Schedule:
    """How long and how fast to learn.

    ``batch`` users make a step, ``accumulate`` parts of it are computed one after the other; at most ``passes`` passes
    over the users. After each pass, or ``look_every`` steps, the users who decide when to stop are looked at: after
    ``patience`` looks without a better one training stops, and the best state counts. A share of ``held_out`` users
    takes no part in training: half of them decide when to stop, and the other half is measured.
    """

    batch: int = 512
    accumulate: int = 1
    passes: int = 20
    learning_rate: float = 1.5e-3
    warm_up: int = 200
    patience: int = 3
    look_every: int | None = None
    held_out: float = 0.2

    def __post_init__(self) -> None:
        for name in ("batch", "accumulate", "passes", "warm_up", "patience"):
            whole(name, getattr(self, name))
        if self.batch % self.accumulate:
            raise OptionError(f"batch must be a multiple of accumulate, {self.accumulate}, not {self.batch}")
        if self.look_every is not None:
            whole("look_every", self.look_every)
        between_0_and_1("held_out", self.held_out)
        if not self.learning_rate > 0:
            raise OptionError(f"learning_rate must be above 0, not {self.learning_rate!r}")


PRESETS: dict[str, Sizes] = {
    "small": Sizes(),
    "paper": Sizes(width=1024, heads=8, mlp=4096, encoder_layers=6, decoder_layers=6, hidden=1024),
}
"""``small`` trains on two cores in minutes; ``paper`` has the sizes of carey, Table 1."""


def schedule_for(preset: str, n_users: int) -> Schedule:
    """Return the schedule that goes with a preset and this many users.

    ``small`` takes larger batches of more users, about 400 steps a pass, and learns faster with them; the batch of
    ``paper`` is that of carey, Table 1, and the rest is our choice.

    >>> schedule_for("small", 200_000).batch, schedule_for("paper", 200_000).batch
    (512, 1536)
    """
    if preset == "paper":
        return Schedule(batch=1536, learning_rate=2e-4, warm_up=2_000)
    batch = 1 << min(12, max(6, round(math.log2(max(1, n_users) / 400))))
    return Schedule(batch=batch, learning_rate=min(3e-3, 1.5e-3 * math.sqrt(batch / 512)))


def chosen(preset: str | Sizes, n_users: int, schedule: Schedule | None = None) -> tuple[Sizes, Schedule]:
    """Return sizes and schedule of a preset, or those given.

    >>> chosen("small", 200_000)[0].width
    64
    """
    if isinstance(preset, Sizes):
        return preset, schedule or schedule_for("small", n_users)
    if preset not in PRESETS:
        raise OptionError(f"there is no preset {preset!r}; choose from {', '.join(PRESETS)}, or give Sizes")
    return PRESETS[preset], schedule or schedule_for(preset, n_users)


def training_flops(sizes: Sizes, n_tokens: int, n_epochs: int, batch: int, source_length: int) -> float:
    """Count the floating-point operations of one training step, matrix products alone: forward, and twice for backward.

    Every weight matrix is used once a position: 2 in, 4 for both gradients. Attention adds 4 t u w for t positions that
    look at u. Embeddings, norms, dropout and the optimiser are left out, so the share of a card's rate is a lower one.

    >>> training_flops(Sizes(width=4, heads=1, mlp=8, encoder_layers=1, decoder_layers=1), 10, 2, 1, 2) > 0
    True
    """
    w, r, s = sizes.width, n_epochs, source_length
    encoder = s * (4 * w * w + 2 * w * sizes.mlp) + 2 * s * s * w
    if sizes.decoder == "transformer":
        # Of the eight projections of a decoder layer, two are of the source's states.
        layer = r * (6 * w * w + 2 * w * sizes.mlp) + s * 2 * w * w + 2 * r * r * w + 2 * r * s * w
        decoder, last = sizes.decoder_layers * layer, w
    else:
        h = sizes.hidden
        # Of each layer, the state before the first epoch is nothing, and needs no product.
        given = w + (sizes.decoder_layers - 1) * (h + w)
        decoder = 4 * h * (r * given + (r - 1) * sizes.decoder_layers * h)
        decoder += r * (h * w + w * w) + s * 2 * w * w + 2 * r * s * w
        last = h + w
    return 6.0 * batch * (sizes.encoder_layers * encoder + decoder + r * last * n_tokens)


def as_plain(value: Sizes | Schedule) -> dict[str, Any]:
    """Return the fields of a value, for a file."""
    return {name: getattr(value, name) for name in value.__dataclass_fields__}
