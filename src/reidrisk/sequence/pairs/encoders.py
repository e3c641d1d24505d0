"""What makes a vector of a record: the encoder of a sequence model for traces, and a mean of items for bags."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from reidrisk.sequence.network import Network
from reidrisk.sequence.sizes import Sizes, as_plain

_ROUNDS, _SPARE = 4, 8  # of the decomposition that the items start from


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
    """The mean of the vectors of a bag's items, each with a weight of its own; the order of items does not matter.

    Vectors start from a truncated singular value decomposition of the training users' bags, weights from how rare an
    item is among them. An item that no training user holds keeps the vector 0: nothing is known of it.
    """

    known: Tensor

    def __init__(self, n_tokens: int, width: int) -> None:
        super().__init__()
        self.n_tokens, self.width, self.size = n_tokens, width, width + 1
        self.items = nn.Parameter(torch.zeros(n_tokens, width))
        self.rarity = nn.Parameter(torch.zeros(n_tokens))
        self.register_buffer("known", torch.zeros(n_tokens))

    def start_from(self, counts: Any, seed: int) -> None:
        """Place the items by which training users hold them, (n, n_tokens) sparse counts."""
        held = _weighed(counts)
        self.known.copy_(torch.from_numpy((np.bincount(counts.indices, minlength=self.n_tokens) > 0).astype("f4")))
        rarity = np.log((1.0 + counts.shape[0]) / (1.0 + np.bincount(counts.indices, minlength=self.n_tokens)))
        vectors = _decomposed(held, min(self.width, min(held.shape) - 1), seed)
        with torch.no_grad():
            self.items[:, : vectors.shape[1]] = torch.from_numpy(vectors).float()
            self.rarity.copy_(torch.from_numpy(np.log(np.maximum(rarity, 0.1))).float())

    def forward(self, bag: tuple[Tensor, Tensor]) -> Tensor:
        """Return (n, width + 1) for items one record after the other, and where each record starts."""
        items, start = bag
        weight = torch.exp(self.rarity.clamp(-6.0, 3.0))[items] * self.known[items]
        mean = F.embedding_bag(items, self.items, start, mode="sum", per_sample_weights=weight)
        total = F.embedding_bag(
            items, torch.ones_like(self.rarity)[:, None], start, mode="sum", per_sample_weights=weight
        )
        sizes = torch.diff(start, append=torch.tensor([len(items)], device=start.device))
        mean = mean / (total + 1e-6)
        mean = mean / (mean.norm(dim=1, keepdim=True) + 1e-6)
        return torch.cat([mean, torch.log1p(sizes.float())[:, None] * 0.1], dim=1)

    def described(self) -> dict[str, Any]:
        """Return what is needed to make it again, weights apart."""
        return {"n_tokens": self.n_tokens, "n_epochs": 0, "width": self.width}

    @classmethod
    def made(cls, held: dict[str, Any]) -> SetEncoder:
        """Make it as :meth:`described`, with weights still to be read."""
        return cls(held["n_tokens"], held["width"])


def _weighed(counts: Any) -> Any:
    """Return the bags as rows of length 1, items weighed by how rare they are."""
    from scipy import sparse

    n = counts.shape[0]
    holders = np.bincount(counts.indices, minlength=counts.shape[1])
    data = np.log((1.0 + n) / (1.0 + holders))[counts.indices] + 1e-3
    row = np.repeat(np.arange(n), np.diff(counts.indptr))
    length = np.sqrt(np.bincount(row, data**2, n))
    return sparse.csr_array((data / np.maximum(length[row], 1e-12), counts.indices, counts.indptr), shape=counts.shape)


def _decomposed(matrix: Any, size: int, seed: int) -> Any:
    """Return (columns, size) right singular vectors times the root of their value, by subspace iteration."""
    rng = np.random.default_rng(seed)
    within = rng.normal(size=(matrix.shape[0], min(size + _SPARE, matrix.shape[0])))
    for _ in range(_ROUNDS):
        within, _ = np.linalg.qr(matrix @ (matrix.T @ within))
    _, strength, right = np.linalg.svd(np.asarray((matrix.T @ within).T), full_matrices=False)
    vectors = right[:size].T * np.sqrt(strength[:size])
    # A direction has no sign: the largest entry of each is made positive, so that it does not depend on the library.
    signs = np.sign(vectors[np.abs(vectors).argmax(axis=0), np.arange(vectors.shape[1])])
    return np.asarray(vectors * signs / np.maximum(np.sqrt((vectors**2).mean()), 1e-12))
