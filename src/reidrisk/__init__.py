"""reidrisk: how likely the people behind a set of user representations are to be re-identified.

Importing this package loads nothing heavy: each name below is imported when it is first used.
"""

import importlib
from typing import TYPE_CHECKING, Any

from reidrisk.base.moved import moved as _moved

if TYPE_CHECKING:
    from reidrisk import (
        attacks,
        audit,
        bandits,
        bench,
        bounds,
        cohorts,
        io,
        measure,
        mechanisms,
        mitigations,
        populations,
        present,
        records,
        release,
        scenarios,
        sequence,
        topics,
    )
    from reidrisk.audit.assess import assess
    from reidrisk.base import Bound, Difference, Measurement, ReidRiskError, Risk, Vocabulary
    from reidrisk.records import Bags, Channel, TopSets, Traces

__version__ = "0.2.0"

__all__ = ["attacks", "audit", "bandits", "bench", "bounds", "cohorts", "io", "measure", "mechanisms", "mitigations"]
__all__ += ["assess", "populations", "present", "records", "release", "scenarios", "sequence", "topics"]
__all__ += ["Bound", "Difference", "Measurement", "ReidRiskError", "Risk", "Vocabulary"]
__all__ += ["Bags", "Channel", "TopSets", "Traces", "__version__"]

_HOME = {"assess": "audit.assess"} | dict.fromkeys(("Bags", "Channel", "TopSets", "Traces"), "records")
_HOME |= dict.fromkeys(("Bound", "Difference", "Measurement", "ReidRiskError", "Risk", "Vocabulary"), "base")


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(importlib.import_module(f"reidrisk.{_HOME[name]}"), name)
    if name in (*__all__, "report"):  # an old name, which warns by itself
        return importlib.import_module(f"reidrisk.{name}")
    return _moved(__name__)(name)


def __dir__() -> list[str]:
    return sorted(__all__)
