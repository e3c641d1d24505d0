"""Each published table and figure, run again, beside the published numbers."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reidrisk_studies.registry import STUDIES, find, run
    from reidrisk_studies.results import Comparison, StudyResult
    from reidrisk_studies.study import Study
    from reidrisk_studies.writing import need_charts, write

__all__ = ["STUDIES", "Comparison", "Study", "StudyResult", "find", "need_charts", "run", "write"]

# The command line loads this package for its menu, which must not wait for all studies.
_HOME = {
    "STUDIES": "registry",
    "find": "registry",
    "run": "registry",
    "Comparison": "results",
    "StudyResult": "results",
    "Study": "study",
    "need_charts": "writing",
    "write": "writing",
}


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(importlib.import_module(f"reidrisk_studies.{_HOME[name]}"), name)
    raise AttributeError(f"module 'reidrisk_studies' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
