"""What makes a vector of a record: the encoder of a sequence model for traces, and a mean of items for bags."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from reidrisk.sequence.network import Network
from reidrisk.sequence.sizes import Sizes, as_plain

_ROUNDS, _SPARE = 6, 16  # of the decomposition that the items start from


class TraceEncoder(nn.Module):
    """States of the last encoder layer of a sequence model, one epoch after the other (carey, Figure 5)."""

    def __init__(self, network: Network) -> None:
        super().__init__()
        self.network = network
        self.size = network.n_epochs * network.sizes.width
        for part in (network.decoder, network.out):  # never used again
            part.requires_grad_(False)

    def forward(self, tokens: Tensor) -> Tensor:
        """Return (n, r * width)."""
        return self.network.encode(tokens).flatten(1)

    def described(self) -> dict[str, Any]:
        """Return what is needed to make it again, weights apart."""
        network = self.network
        return {"n_tokens": network.n_tokens, "n_epochs": network.n_epochs, "sizes": as_plain(network.sizes)}

    @classmethod
    def made(cls, held: dict[str, Any]) -> TraceEncoder:
        """Make it as :meth:`described`, with weights still to be read."""
        return cls(Network(Sizes(**held["sizes"]), held["n_tokens"], held["n_epochs"]))


class SetEncoder(nn.Module):
    """The direction of the sum of a bag's item vectors, each with a weight of its own; their order does not matter.

    Vectors start from a truncated singular value decomposition of bags, weights from how rare an item is among them. An
    item that is in none of these bags keeps the vector 0: nothing is known of it.
    """

    known: Tensor

    def __init__(self, n_tokens: int, width: int) -> None:
        super().__init__()
        self.n_tokens, self.width, self.size = n_tokens, width, width
        self.items = nn.Parameter(torch.zeros(n_tokens, width))
        self.rarity = nn.Parameter(torch.zeros(n_tokens))
        self.register_buffer("known", torch.zeros(n_tokens))

    def start_from(self, counts: Any, seed: int) -> None:
        """Place the items by which bags they are in, (n, n_tokens) sparse counts."""
        n, holders = counts.shape[0], np.bincount(counts.indices, minlength=self.n_tokens)
        rarity = np.maximum(np.log((1.0 + n) / (1.0 + holders)), 0.05)
        size = max(1, min(self.width, n - 1, self.n_tokens - 1))
        vectors = _decomposed(_weighed(counts, rarity), size, seed)
        with torch.no_grad():
            self.known.copy_(torch.from_numpy((holders > 0).astype("f4")))
            self.items[:, : vectors.shape[1]] = torch.from_numpy(vectors).float()
            # Rare items twice as much as in the decomposition: on listening data that finds more people.
            self.rarity.copy_(torch.from_numpy(2.0 * np.log(rarity)).float())

    def forward(self, bag: tuple[Tensor, Tensor]) -> Tensor:
        """Return (n, width) for items one record after the other, and where each record starts."""
        items, start = bag
        weight = torch.exp(self.rarity.clamp(-8.0, 5.0))[items] * self.known[items]
        total = F.embedding_bag(items, self.items, start, mode="sum", per_sample_weights=weight)
        length: Tensor = total.norm(dim=1, keepdim=True)
        return total / (length + 1e-6)

    def described(self) -> dict[str, Any]:
        """Return what is needed to make it again, weights apart."""
        return {"n_tokens": self.n_tokens, "n_epochs": 0, "width": self.width}

    @classmethod
    def made(cls, held: dict[str, Any]) -> SetEncoder:
        """Make it as :meth:`described`, with weights still to be read."""
        return cls(held["n_tokens"], held["width"])


def _weighed(counts: Any, rarity: Any) -> Any:
    """Return which items the bags hold, each weighed by how rare it is."""
    from scipy import sparse

    return sparse.csr_array((rarity[counts.indices], counts.indices, counts.indptr), shape=counts.shape)


def _decomposed(matrix: Any, size: int, seed: int) -> Any:
    """Return (columns, size) right singular vectors times their value, by subspace iteration (Halko et al. 2011)."""
    rng = np.random.default_rng(seed)
    within = rng.normal(size=(matrix.shape[0], min(size + _SPARE, matrix.shape[0])))
    for _ in range(_ROUNDS):
        within, _ = np.linalg.qr(matrix @ (matrix.T @ within))
    _, strength, right = np.linalg.svd(np.asarray((matrix.T @ within).T), full_matrices=False)
    vectors = right[:size].T * strength[:size]
    # A direction has no sign: the largest entry of each is made positive, so that it does not depend on the library.
    signs = np.sign(vectors[np.abs(vectors).argmax(axis=0), np.arange(vectors.shape[1])])
    return np.asarray(vectors * signs / np.maximum(np.sqrt((vectors**2).mean()), 1e-12))
