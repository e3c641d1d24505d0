r"""The objective J of a mixture of types and its gradient, all terms at once, in torch (dick, Section 5.1).

For tokens with slot probabilities x_s and y_s, :math:`1 - x_s - y_s = (1 - x_s)(1 - y_s) - x_s y_s`, so that

.. math:: \prod_s (1 - x_s - y_s) = \sum_A (-1)^{|A|} G_A(x) G_A(y), \quad
          G_A(x) = \prod_{s \in A} x_s \prod_{s \notin A} (1 - x_s),

over all subsets A of the k slots. With :math:`S = 1 - G_\emptyset`, the probability that the token is in the set,

.. math:: q_{within}(o_1, o_2) = \frac1T \sum_t \Big( S(x) S(y) + \sum_{A \ne \emptyset} (-1)^{|A|} G_A(x) G_A(y) \Big):

products of matrices of T 2^k rows with themselves give every pair, one more product gives the gradient, and no term is
the small difference of large ones. The gradient is written out, not recorded: that halves the time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from reidrisk.base import Array, DataError, require
from reidrisk.populations.type_mixture import n_terms

if TYPE_CHECKING:
    import torch

# Entries of the matrices G that are made at a time. On a CPU fewer are a little faster, but then threads meet so often
# that on a busy machine they mostly wait for each other; on a GPU, as many as there are.
_ON_CPU, _ON_GPU = 1 << 22, 1 << 27


class Objective:
    """J for given statistics, single (N,), within and across (N, N), those of every epoch; and its gradient."""

    def __init__(
        self, single: Array, within: Array, across: Array, device: Any = "cpu", dtype: Any = None, at_once: int = 0
    ) -> None:
        self._torch = require("torch", "release", "fitting a model")
        dtype = dtype or self._torch.float32
        n = len(single)
        if within.shape != (n, n) or across.shape != (n, n):
            raise DataError(f"statistics of {n} tokens need tables of {n} x {n}, not {within.shape} and {across.shape}")
        self._single, self._within, self._across = (
            self._torch.tensor(np.array(q, dtype=np.float64), device=device).to(dtype) for q in (single, within, across)
        )
        self._at_once = at_once or (_ON_CPU if self._single.device.type == "cpu" else _ON_GPU)

    def __call__(self, theta: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return J and the gradient of J times its number of terms, for theta of (T, r, k, N)."""
        torch = self._torch
        with torch.no_grad():
            n_types, r, _, n = theta.shape
            slots = torch.softmax(theta, dim=-1)
            x = slots.transpose(0, 1)  # (r, T, k, N)
            inside = x[:, :, 0].clone()
            for s in range(1, x.shape[2]):
                # 1 - prod(1 - x) would lose small probabilities.
                inside += x[:, :, s] * (1.0 - inside)
            gap = inside.mean(dim=1) - self._single
            total = (gap**2).sum()
            slope = (gap * (2.0 / n_types))[:, None].expand_as(inside).clone()
            if r > 1:
                wanted = self._across.expand(r - 1, n, n)
                gap = torch.baddbmm(wanted, inside[:-1].mT, inside[1:], beta=-1.0, alpha=1.0 / n_types)
                total += (gap**2).sum()
                slope[:-1].baddbmm_(inside[1:], gap.mT, alpha=2.0 / n_types)
                slope[1:].baddbmm_(inside[:-1], gap, alpha=2.0 / n_types)
            gap = self._gap_within(x, inside)
            total += (gap**2).sum() / 2.0
            slope.baddbmm_(inside, gap, alpha=2.0 / n_types)
            pull = self._pull(x, gap, slope)
            # Through the softmax.
            pull -= (pull * slots).sum(dim=-1, keepdim=True)
            return total / n_terms(r, n), pull.mul_(slots)

    def _gap_within(self, x: torch.Tensor, inside: torch.Tensor) -> torch.Tensor:
        """Return q_within minus its target for every epoch, with a zero diagonal."""
        r, n_types, _, n = x.shape
        share = 1.0 / n_types
        gap: torch.Tensor = self._torch.baddbmm(self._within.expand(r, n, n), inside.mT, inside, beta=-1.0, alpha=share)
        for epochs, types in self._parts(x):
            even, odd = self._subsets(x[epochs, types])
            if even.shape[1] > 1:
                rows = even[:, 1:].flatten(1, 2)
                gap[epochs].baddbmm_(rows.mT, rows, alpha=share)
            rows = odd.flatten(1, 2)
            gap[epochs].baddbmm_(rows.mT, rows, alpha=-share)
        gap.diagonal(dim1=1, dim2=2).zero_()
        return gap

    def _pull(self, x: torch.Tensor, gap: torch.Tensor, slope: torch.Tensor) -> torch.Tensor:
        """Return the gradient with respect to the slot probabilities, (T, r, k, N), given that of S."""
        pull: torch.Tensor = self._torch.empty_like(x.transpose(0, 1))
        out = pull.transpose(0, 1)
        share = 2.0 / x.shape[1]
        for epochs, types in self._parts(x):
            part = x[epochs, types]
            even, odd = self._subsets(part)
            to_even = self._torch.bmm(even.flatten(1, 2), gap[epochs]).mul_(share).view_as(even)
            to_odd = self._torch.bmm(odd.flatten(1, 2), gap[epochs]).mul_(-share).view_as(odd)
            to_even[:, 0] = -slope[epochs, types]  # S = 1 - G of the empty subset, whose own product is not in J
            for s in range(part.shape[2] - 1, 0, -1):
                half, slot = even.shape[1] // 2, part[:, None, :, s]
                more_odd = to_odd[:, half:] - to_even[:, :half]
                more_even = to_even[:, half:] - to_odd[:, :half]
                # The products without slot s: x + (1 - x) = 1.
                even, odd = even[:, :half] + odd[:, half:], odd[:, :half] + even[:, half:]
                out[epochs, types, s] = (even * more_odd).sum(dim=1).add_((odd * more_even).sum(dim=1))
                to_even = more_odd.mul_(slot).add_(to_even[:, :half])
                to_odd = more_even.mul_(slot).add_(to_odd[:, :half])
            out[epochs, types, 0] = (to_odd - to_even)[:, 0]
        return pull

    def _subsets(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return G_A of even and of odd subsets, each (epochs, 2^(k-1), types, N); the empty subset comes first."""
        epochs, types, k, n = x.shape
        even, odd = (x.new_empty(epochs, 2 ** (k - 1), types, n) for _ in range(2))
        odd[:, 0] = x[:, :, 0]
        even[:, 0] = 1.0 - x[:, :, 0]
        half = 1
        for s in range(1, k):
            slot = x[:, None, :, s]
            self._torch.mul(odd[:, :half], slot, out=even[:, half : 2 * half])
            self._torch.mul(even[:, :half], slot, out=odd[:, half : 2 * half])
            even[:, :half] -= odd[:, half : 2 * half]
            odd[:, :half] -= even[:, half : 2 * half]
            half *= 2
        return even, odd

    def _parts(self, x: torch.Tensor) -> list[tuple[slice, slice]]:
        """Cut epochs and types into parts whose subsets are made at a time."""
        r, n_types, k, n = x.shape
        types = max(1, min(n_types, self._at_once // (2**k * n)))
        epochs = max(1, min(r, self._at_once // (2**k * n * n_types)))
        return [
            (slice(e, min(e + epochs, r)), slice(t, min(t + types, n_types)))
            for e in range(0, r, epochs)
            for t in range(0, n_types, types)
        ]
