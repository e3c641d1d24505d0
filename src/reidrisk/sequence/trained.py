"""Trained: a sequence model that has learnt, what it measured on users it never saw, and its embeddings of records."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

from reidrisk.base.arrays import Floats, Ints
from reidrisk.base.errors import DataError, FormatError
from reidrisk.base.foreign import reason
from reidrisk.base.notes import Note
from reidrisk.base.parallel import slices
from reidrisk.io.atomic import PathLike, write_atomically
from reidrisk.io.tables import existing_file
from reidrisk.sequence.network import Network, nats
from reidrisk.sequence.sizes import Sizes, as_plain

_ROWS = 4_096  # rows of a batch outside training
FORMAT = "reidrisk sequence model 1"


@dataclass(eq=False)
class Trained:
    """A network, and how it did on held-out users.

    ``nats`` (m,) is -log P of the whole target record of each measured user, ``observed`` (m,) the number of tokens in
    it; ``curve`` are the bits per epoch of the users who decide when to stop, at each look. ``best`` is the look whose
    state this is.
    """

    network: Network
    conditional: bool
    nats: Floats
    observed: Ints
    curve: tuple[float, ...]
    best: int
    steps: int
    n_training: int
    seed: int
    notes: tuple[Note, ...] = ()
    measured: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    """Rows of the users who were measured."""

    @property
    def bits(self) -> float:
        """Bits per observed epoch of the measured users: a cross-entropy, no less than the entropy in expectation."""
        return float(self.nats.sum() / np.log(2.0) / max(1, int(self.observed.sum())))

    @property
    def device(self) -> torch.device:
        """Where the network is."""
        return self.network.place.device

    def embed(self, tokens: Any) -> Floats:
        """Return (n, r * width): states of the last encoder layer, one epoch after the other (carey, Figure 5).

        Same model, same record, same embedding.
        """
        self.network.eval()
        with torch.inference_mode():
            found = [self.network.encode(rows).flatten(1).float().cpu().numpy() for rows in self._batches(tokens)]
        return np.concatenate(found)

    def evaluate(self, source: Any, target: Any) -> tuple[Floats, Ints]:
        """Return -log P(target | source) of each user in nats, and how many tokens of the target were observed."""
        return evaluate(self.network, source if self.conditional else None, target)

    def _batches(self, tokens: Any) -> Iterator[torch.Tensor]:
        known = checked(tokens, self.network.n_tokens, self.network.n_epochs)
        for start in range(0, len(known), _ROWS):
            yield torch.from_numpy(known[start : start + _ROWS]).to(self.device).long()

    def save(self, path: PathLike) -> None:
        """Write the network and its sizes to a file of tensors and plain values."""
        with write_atomically(path) as temporary:
            torch.save({"format": FORMAT, "conditional": self.conditional, **described(self.network)}, temporary)

    @classmethod
    def load(cls, path: PathLike, n_tokens: int | None = None, device: str = "cpu") -> Trained:
        """Read what :meth:`save` wrote; a model over another number of tokens than ``n_tokens`` is refused."""
        held = read(path, FORMAT)
        network = rebuilt(held, n_tokens, str(path)).to(device)
        return cls(network, bool(held["conditional"]), np.zeros(0), np.zeros(0, dtype=np.int64), (), 0, 0, 0, 0)


def evaluate(network: Network, source: Any, target: Any) -> tuple[Floats, Ints]:
    """Return -log P(target | source) of each row in nats, in float32, and the number of observed tokens."""
    network.eval()
    device = network.place.device
    known = checked(target, network.n_tokens, network.n_epochs)
    given = None if source is None else checked(source, network.n_tokens, network.n_epochs)
    total = np.zeros(len(known))
    with torch.inference_mode():
        for part in slices(len(known), _ROWS):
            rows = torch.from_numpy(known[part]).to(device).long()
            asked = network.nothing(rows) if given is None else torch.from_numpy(given[part]).to(device).long()
            total[part] = nats(network(asked, rows), rows).double().sum(dim=1).cpu().numpy()
    return total, np.asarray((known >= 0).sum(axis=1))


def checked(tokens: Any, n_tokens: int, n_epochs: int | None = None) -> Any:
    """Return tokens as an array (n, r) of int32 that owns its memory, or name what is wrong with them."""
    found = np.asarray(tokens)
    if found.ndim != 2 or found.dtype.kind != "i" or 0 in found.shape:
        raise DataError(f"tokens are whole numbers of shape (users, epochs), not {found.dtype} {found.shape}")
    if n_epochs is not None and found.shape[1] != n_epochs:
        raise DataError(f"the model was made for {n_epochs} epochs, and these records have {found.shape[1]}")
    if found.min() < -1 or found.max() >= n_tokens:
        raise DataError(f"tokens lie in [0, {n_tokens}), and -1 means not observed; there is one outside")
    return np.array(found, dtype=np.int32, order="C")


def described(network: Network) -> dict[str, Any]:
    """Return what is needed to make the network again."""
    shape = {"n_tokens": network.n_tokens, "n_epochs": network.n_epochs, "sizes": as_plain(network.sizes)}
    return shape | {"state": {name: value.detach().cpu() for name, value in network.state_dict().items()}}


def rebuilt(held: Any, n_tokens: int | None, name: str) -> Network:
    """Make a network from what :func:`described` returned; another vocabulary is refused."""
    if n_tokens is not None and held["n_tokens"] != n_tokens:
        there = f"{name} is a model over {held['n_tokens']:,} tokens, and the records are over {n_tokens:,}"
        raise DataError(f"{there}; train one on this vocabulary")
    network = Network(Sizes(**held["sizes"]), held["n_tokens"], held["n_epochs"])
    network.load_state_dict(held["state"])
    return network.eval()


def read(path: PathLike, format_: str) -> dict[str, Any]:
    """Read a file of tensors and plain values that says it is of this format; nothing in it is run."""
    file = existing_file(path)
    try:
        held = torch.load(file, map_location="cpu", weights_only=True)
    except OSError as error:
        raise FormatError(f"{path}: cannot be read: {reason(error)}") from error
    except Exception as error:  # a damaged archive can raise anything
        raise FormatError(f"{path}: this is no {format_[:-2]}, or a damaged one; train again") from error
    if not isinstance(held, dict) or held.get("format") != format_:
        raise FormatError(f"{path}: this is no {format_[:-2]}; give a file that save wrote")
    return held


def copied(network: Network) -> dict[str, torch.Tensor]:
    """Return a copy of the weights as they are now."""
    return copy.deepcopy({name: value.detach() for name, value in network.state_dict().items()})
