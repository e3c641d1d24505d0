"""The sequence-to-sequence networks in torch: a Transformer encoder, and a Transformer or an LSTM that decodes."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from reidrisk.sequence.sizes import Sizes

_TILE, _SHORT = 128, 16  # positions of a tile, and of a sequence that is worth laying beside others
EXTRA = 3  # tokens beside the vocabulary: not observed, no source at all, and the beginning of the target


class Attention(nn.Module):
    """Attention of ``x`` to ``memory``, with several heads (Vaswani et al. 2017)."""

    def __init__(self, sizes: Sizes, asking: int | None = None) -> None:
        super().__init__()
        width = sizes.width
        self.heads, self.dropout = sizes.heads, sizes.attention_dropout
        self.query = nn.Linear(asking or width, width, bias=False)
        self.known = nn.Linear(width, 2 * width, bias=False)
        self.out = nn.Linear(width, width)

    def forward(self, x: Tensor, memory: Tensor, causal: bool = False) -> Tensor:
        """Return (b, t, width): what each position of ``x`` (b, t, …) sees in ``memory`` (b, u, width)."""
        b, t, u = x.shape[0], x.shape[1], memory.shape[1]
        if memory is x:  # one product for all three
            both = F.linear(x, torch.cat([self.query.weight, self.known.weight]))
            query, known = both[..., : self.query.out_features], both[..., self.query.out_features :]
        else:
            query, known = self.query(x), self.known(memory)
        query = query.reshape(b, t, self.heads, -1)
        key, value = known.reshape(b, u, 2, self.heads, -1).unbind(2)
        dropped = self.dropout if self.training else 0.0
        together = _TILE // max(t, u) if query.is_cuda and max(t, u) <= _SHORT else 1
        seen = attend(query, key, value, dropped, causal, together if b % max(together, 1) == 0 else 1)
        mixed: Tensor = self.out(seen.reshape(b, t, -1))
        return mixed


def attend(query: Tensor, key: Tensor, value: Tensor, dropout: float, causal: bool, together: int = 1) -> Tensor:
    """Return the attention (b, t, heads, d) of ``query`` to ``key`` (b, u, heads, d), and the ``value`` found there.

    Where there is one thing to look at, it is what is seen. Scores then say nothing, and a GPU's rounding of their
    gradients, which are 0, would be all that moves their weights, without end.

    Several rows ``together`` make one long sequence whose parts do not see each other: a GPU's kernels work in tiles
    of 64 or 128 positions, which a sequence of eight would leave nearly empty.
    """
    if key.shape[1] == 1:
        return F.dropout(torch.ones_like(query[..., :1]), dropout) * value
    if together == 1:
        parts = [one.transpose(1, 2) for one in (query, key, value)]
        plain = F.scaled_dot_product_attention(parts[0], parts[1], parts[2], dropout_p=dropout, is_causal=causal)
        return plain.transpose(1, 2)
    t, u = query.shape[1], key.shape[1]
    long = [one.reshape(-1, together * one.shape[1], *one.shape[2:]).transpose(1, 2) for one in (query, key, value)]
    row, column = (torch.arange(together * length, device=query.device) for length in (t, u))
    mask = (row // t)[:, None] == (column // u)[None, :]
    if causal:
        mask = mask & (row[:, None] >= column[None, :])
    seen = F.scaled_dot_product_attention(long[0], long[1], long[2], attn_mask=mask, dropout_p=dropout)
    return seen.transpose(1, 2).reshape(query.shape)


class Layer(nn.Module):
    """One layer: attention to itself, for a decoder attention to the source, and two linear maps; norms come first."""

    def __init__(self, sizes: Sizes, decodes: bool) -> None:
        super().__init__()
        self.decodes = decodes
        self.own = Attention(sizes)
        self.norms = nn.ModuleList(nn.LayerNorm(sizes.width) for _ in range(3 if decodes else 2))
        self.other = Attention(sizes) if decodes else None
        self.maps = nn.Sequential(nn.Linear(sizes.width, sizes.mlp), nn.ReLU(), nn.Linear(sizes.mlp, sizes.width))
        self.drop = nn.Dropout(sizes.dropout)

    def forward(self, x: Tensor, memory: Tensor | None = None) -> Tensor:
        """Return the states (b, t, width) of the next layer."""
        seen = self.norms[0](x)
        x = x + self.drop(self.own(seen, seen, causal=self.decodes))
        if self.other is not None:
            assert memory is not None
            x = x + self.drop(self.other(self.norms[1](x), memory))
        mapped: Tensor = x + self.drop(self.maps(self.norms[-1](x)))
        return mapped


class TransformerDecoder(nn.Module):
    """Layers that see the target so far, and the source."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.layers = nn.ModuleList(Layer(sizes, decodes=True) for _ in range(sizes.decoder_layers))
        self.norm = nn.LayerNorm(sizes.width)
        self.width = sizes.width

    def forward(self, x: Tensor, memory: Tensor) -> Tensor:
        """Return (b, r, width)."""
        for layer in self.layers:
            x = layer(x, memory)
        found: Tensor = self.norm(x)
        return found


class Lstm(nn.Module):
    """One LSTM layer that starts from nothing, by the library's call, except while compiling.

    The compiler cannot look into that call, so that nothing before, within or after it would be fused. Weights have the
    names that ``nn.LSTM`` gives them, which the compiler refuses even to hold.
    """

    def __init__(self, given: int, hidden: int) -> None:
        super().__init__()
        self.weight_ih_l0 = nn.Parameter(torch.empty(4 * hidden, given))
        self.weight_hh_l0 = nn.Parameter(torch.empty(4 * hidden, hidden))
        self.bias_ih_l0 = nn.Parameter(torch.empty(4 * hidden))
        self.bias_hh_l0 = nn.Parameter(torch.empty(4 * hidden))
        for weight in self.parameters():
            nn.init.uniform_(weight, -(hidden**-0.5), hidden**-0.5)

    def forward(self, x: Tensor) -> Tensor:
        """Return the states (b, t, hidden) for inputs (b, t, given)."""
        weights: list[Tensor] = [self.weight_ih_l0, self.weight_hh_l0, self.bias_ih_l0, self.bias_hh_l0]
        if torch.compiler.is_compiling():
            return unrolled(x, weights[0], weights[1], weights[2] + weights[3])
        nothing = x.new_zeros(1, x.shape[0], self.weight_hh_l0.shape[1])
        states: Tensor = torch.lstm(x, (nothing, nothing), weights, True, 1, 0.0, self.training, False, True)[0]
        return states


class LstmDecoder(nn.Module):
    """LSTM layers, the lowest of which asks the source; its answer goes into all others and the end (Chen et al. 2018).

    Layers above the lowest add to what they are given.
    """

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.lowest = Lstm(sizes.width, sizes.hidden)
        self.ask = Attention(sizes, asking=sizes.hidden)
        self.layers = nn.ModuleList(
            Lstm(sizes.hidden + sizes.width, sizes.hidden) for _ in range(sizes.decoder_layers - 1)
        )
        self.norms = nn.ModuleList(nn.LayerNorm(sizes.hidden + sizes.width) for _ in range(sizes.decoder_layers - 1))
        self.drop = nn.Dropout(sizes.dropout)
        self.width = sizes.hidden + sizes.width

    def forward(self, x: Tensor, memory: Tensor) -> Tensor:
        """Return (b, r, hidden + width)."""
        x = self.lowest(x)
        seen = self.ask(x, memory)
        for layer, norm in zip(self.layers, self.norms, strict=True):
            x = x + self.drop(layer(norm(torch.cat([x, seen], dim=-1))))
        return torch.cat([x, seen], dim=-1)


def unrolled(x: Tensor, given: Tensor, kept: Tensor, bias: Tensor) -> Tensor:
    """Return the same, written out: one product for the inputs of all epochs, then epoch by epoch.

    The first epoch has no state before it, so that it needs no product with ``kept``. Cells are in float32 at least.
    """
    states: list[Tensor] = []
    cell: Tensor | None = None
    for gates in F.linear(x, given, bias).unbind(1):
        if states:
            gates = gates + F.linear(states[-1], kept)
        enter, forget, new, out = gates.to(torch.promote_types(gates.dtype, torch.float32)).chunk(4, dim=-1)
        entered = enter.sigmoid() * new.tanh()
        cell = entered if cell is None else entered + forget.sigmoid() * cell
        states.append((out.sigmoid() * cell.tanh()).to(gates.dtype))
    return torch.stack(states, dim=1)


class Network(nn.Module):
    """P(target | source), one token after the other: logits of each target token given those before and the source.

    Tokens are those of the vocabulary, and -1 where none was observed, which is a token of its own to the reader and
    never one to predict. Without a source there is one special token instead (carey, F.1.2).
    """

    def __init__(self, sizes: Sizes, n_tokens: int, n_epochs: int) -> None:
        super().__init__()
        self.sizes, self.n_tokens, self.n_epochs = sizes, n_tokens, n_epochs
        self.token = nn.Embedding(n_tokens + EXTRA, sizes.width)
        self.place = nn.Parameter(torch.randn(2, n_epochs, sizes.width) * 0.3)
        self.encoder = nn.ModuleList(Layer(sizes, decodes=False) for _ in range(sizes.encoder_layers))
        self.encoded = nn.LayerNorm(sizes.width)
        self.decoder: Any = TransformerDecoder(sizes) if sizes.decoder == "transformer" else LstmDecoder(sizes)
        self.out = nn.Linear(self.decoder.width, n_tokens)
        self.drop = nn.Dropout(sizes.dropout)
        nn.init.normal_(self.token.weight, std=0.3)

    def encode(self, source: Tensor) -> Tensor:
        """Return the states (b, s, width) of the last encoder layer; -1 in ``source`` (b, s) means not observed."""
        known = torch.where(source < 0, self.n_tokens, source)
        x = self.drop(self.token(known) + self.place[0, : source.shape[1]])
        for layer in self.encoder:
            x = layer(x)
        found: Tensor = self.encoded(x)
        return found

    def nothing(self, target: Tensor) -> Tensor:
        """Return the source that stands for none: one special token for each row of the target."""
        return torch.full_like(target[:, :1], self.n_tokens + 1)

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        """Return the logits (b, r, n_tokens) of every target token."""
        memory = self.encode(source)
        begin = torch.full_like(target[:, :1], self.n_tokens + 2)
        before = torch.cat([begin, torch.where(target < 0, self.n_tokens, target)[:, :-1]], dim=1)
        x = self.drop(self.token(before) + self.place[1, : target.shape[1]])
        logits: Tensor = self.out(self.decoder(x, memory))
        return logits


def nats(logits: Tensor, target: Tensor) -> Tensor:
    """Return -log P of each target token (b, r), in float32; 0 where none was observed."""
    flat = F.cross_entropy(logits.float().flatten(0, 1), target.flatten(), ignore_index=-1, reduction="none")
    return flat.view(target.shape)
