"""Exact best matches of queries among targets, for scores that add up over epochs.

What is compiled is imported when first used, so that :mod:`reidrisk.search.gpu` also runs with torch and NumPy alone.
"""

import importlib
from typing import TYPE_CHECKING, Any

from reidrisk.search.answer import UNIT, Best, ByBlocks, Candidates, merged, merged_candidates
from reidrisk.search.index import Index
from reidrisk.search.weights import GRID, PairWeights, RangeWeights, Weights, pair_scores, to_grid

if TYPE_CHECKING:
    from reidrisk.search import gpu, lattice, scan
    from reidrisk.search.plan import EpochScorer, Plan, best, choose
    from reidrisk.search.scan import candidates
    from reidrisk.search.sparse import SparseDot, SparseMin, SparseRows

_COMPILED = {"candidates": "scan"} | dict.fromkeys(("EpochScorer", "Plan", "best", "choose"), "plan")
_COMPILED |= dict.fromkeys(("SparseDot", "SparseMin", "SparseRows"), "sparse")

__all__ = ["UNIT", "Best", "ByBlocks", "Candidates", "Index", "merged", "merged_candidates"]
__all__ += ["GRID", "PairWeights", "RangeWeights", "Weights", "gpu", "lattice", "pair_scores", "scan", "to_grid"]
__all__ += ["EpochScorer", "Plan", "SparseDot", "SparseMin", "SparseRows", "best", "candidates", "choose"]


def __getattr__(name: str) -> Any:
    if name in _COMPILED:
        return getattr(importlib.import_module(f"reidrisk.search.{_COMPILED[name]}"), name)
    if name in __all__:
        return importlib.import_module(f"reidrisk.search.{name}")
    raise AttributeError(f"module 'reidrisk.search' has no attribute {name!r}")
