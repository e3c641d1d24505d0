"""The pair network: two towers, product and difference, one layer of units on pairs (carey, E.1.3 and Figure 5).

The first layer on a pair of tower outputs q and t is

    U q + V t + W (q * t) + sum over epochs s of  [same epoch] M[o_s] + [shared at all] S[o_s] + (other epochs) N[o_s]

Differences q - t are in U and V, squared ones in W: so all but the last terms split into a projection of each record,
and W (q * t) = (W diag q) t is one matrix product for a query with all targets. That is what makes it possible to look
at every pair. The last terms are exact agreements of tokens, with a vector for each token that is learnt: a tower
that squeezes a record into a few numbers loses them. Unit 0 is linear, the others are ReLU; their weighted sum is
the logit.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from reidrisk.sequence.pairs.sizes import PairSizes

KINDS = 3  # of agreement: in the same epoch, at all, and in how many other epochs
_CHANCE = 0.2  # that two observers see one token of the same user: where agreement starts, before anything is learnt


class Tower(NamedTuple):
    """Records of one side, ready for pairs: tower outputs (n, d), their projection (n, h), tokens (n, r) or None."""

    vector: Tensor
    projected: Tensor
    tokens: Tensor | None

    def rows(self, part: Any) -> Tower:
        """Return some of the records."""
        return Tower(self.vector[part], self.projected[part], None if self.tokens is None else self.tokens[part])


class PairNetwork(nn.Module):
    """Scores pairs of embeddings (n, e), and of the tokens behind them where these are traces."""

    def __init__(self, sizes: PairSizes, embedding: int, n_tokens: int = 0) -> None:
        super().__init__()
        self.sizes, self.embedding, self.n_tokens = sizes, embedding, n_tokens
        d, h = sizes.width, sizes.hidden
        self.tower = nn.Sequential(
            nn.LayerNorm(embedding),
            nn.Linear(embedding, sizes.tower),
            nn.ReLU(),
            nn.Dropout(sizes.dropout),
            nn.Linear(sizes.tower, d),
        )
        self.straight = nn.Linear(embedding, d, bias=False)
        self.asked, self.known = nn.Linear(d, h), nn.Linear(d, h, bias=False)
        self.product = nn.Parameter(torch.randn(d, h) * 0.1)
        self.last = nn.Parameter(torch.randn(h) * 0.01)
        self.agree = nn.Parameter(torch.zeros(KINDS, n_tokens + 1, h)) if n_tokens else None
        # It begins with the product of the embeddings themselves, as far as they fit, and learns from there.
        (nn.init.eye_ if embedding <= d else nn.init.orthogonal_)(self.straight.weight)
        with torch.no_grad():
            self.tower[-1].weight.zero_()  # type: ignore[operator]
            self.tower[-1].bias.zero_()  # type: ignore[operator]
            self.product[:, 0] = 0.3
            self.asked.weight[0], self.known.weight[0], self.asked.bias[0] = 0.0, 0.0, 0.0

    def start_at(self, popularity: Any) -> None:
        """Let agreement on a token begin with about what it is worth: the rarer, the more."""
        if self.agree is None:
            return
        p = np.maximum(np.asarray(popularity, dtype=np.float64), 1e-6)
        worth = torch.from_numpy(np.log1p(_CHANCE / p)).float()
        with torch.no_grad():
            for kind, share in enumerate((0.7, 0.3, 0.05)):
                self.agree[kind, : self.n_tokens, 0] = share * worth
                self.agree[kind, : self.n_tokens, 1:] = 0.1 * torch.randn(self.n_tokens, self.sizes.hidden - 1)

    def side(self, embedding: Tensor, tokens: Tensor | None, asked: bool) -> Tower:
        """Bring records through the tower; ``asked`` says of queries, else they are targets."""
        vector = self.tower(embedding) + self.straight(embedding)
        vector = vector / (vector.square().mean(dim=-1, keepdim=True) + 1e-6).sqrt()
        return Tower(vector, (self.asked if asked else self.known)(vector), tokens if self.agree is not None else None)

    def tables(self, queries: Tower) -> Tensor:
        """Return (q, KINDS * r, h): what agreement with each query's tokens is worth to each unit."""
        assert self.agree is not None
        assert queries.tokens is not None
        known = torch.where(queries.tokens < 0, self.n_tokens, queries.tokens)
        return self.agree[:, known].permute(1, 0, 2, 3).flatten(1, 2)

    def logits(self, queries: Tower, targets: Tower) -> Tensor:
        """Return the (q, n) logits of every query with every target."""
        weighed = queries.vector[:, :, None] * self.product
        units = torch.matmul(targets.vector, weighed) + targets.projected + queries.projected[:, None]
        if queries.tokens is not None and targets.tokens is not None:
            units = units + torch.bmm(agreements(queries.tokens, targets.tokens).to(units.dtype), self.tables(queries))
        return self._summed(units)

    def among(self, queries: Tower, candidates: Tower) -> Tensor:
        """Return the (q, k) logits of each query with candidates of its own: vectors (q, k, d) and so on."""
        weighed = queries.vector[:, :, None] * self.product
        units = torch.bmm(candidates.vector, weighed) + candidates.projected + queries.projected[:, None]
        if queries.tokens is not None and candidates.tokens is not None:
            shared = _features(queries.tokens[:, None], candidates.tokens)
            units = units + torch.bmm(shared.to(units.dtype), self.tables(queries))
        return self._summed(units)

    def _summed(self, units: Tensor) -> Tensor:
        return units[..., 0] + torch.relu(units[..., 1:]) @ self.last[1:].to(units.dtype)


def agreements(queries: Tensor, targets: Tensor) -> Tensor:
    """Return the (q, n, KINDS * r) agreements of each query's tokens (q, r) with each target's (n, r)."""
    return _features(queries[:, None], targets[None])


def _features(asked: Tensor, known: Tensor) -> Tensor:
    """Return (…, KINDS * r) for tokens (…, r): same epoch, held at all (once for each token), and other epochs."""
    same = ((asked == known) & (asked >= 0)).float()
    equal = asked[..., :, None] == known[..., None, :]
    held = (equal & (asked >= 0)[..., :, None]).float().sum(dim=-1)
    earlier = torch.tril(asked[..., :, None] == asked[..., None, :], diagonal=-1).any(dim=-1)
    once = (held > 0).float() * (~earlier).float()
    return torch.cat([same, once, held - same], dim=-1)
