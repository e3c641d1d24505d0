"""Sequence models: how many bits two observers' traces share, and embeddings of traces.

What needs torch is imported when first used; apart from torch, this package needs NumPy alone.
"""

import importlib
from typing import TYPE_CHECKING, Any

from reidrisk.base.extras import require
from reidrisk.sequence.sizes import PRESETS, Schedule, Sizes, schedule_for, training_flops

if TYPE_CHECKING:
    from reidrisk.sequence.trained import Trained
    from reidrisk.sequence.training import train

_WITH_TORCH = {"Trained": "trained", "train": "training"}

__all__ = ["PRESETS", "Schedule", "Sizes", "Trained", "schedule_for", "train", "training_flops"]


def __getattr__(name: str) -> Any:
    if name in _WITH_TORCH:
        require("torch", "neural", "a sequence model")
        return getattr(importlib.import_module(f"reidrisk.sequence.{_WITH_TORCH[name]}"), name)
    raise AttributeError(f"module 'reidrisk.sequence' has no attribute {name!r}")
