"""`reidrisk bounds`: every bound of the framework on one matrix."""

from pathlib import Path
from typing import Any

from reidrisk.cli import output
from reidrisk.cli.parameters import Json, argument


def bounds(
    matrix: Path = argument(..., "Row-stochastic matrix (users x outputs): NPZ, CSV or Parquet."),
    as_json: Json = False,
) -> None:
    """Print what no attacker can beat, given who says what with which probability."""
    from reidrisk import bounds as theory
    from reidrisk import io
    from reidrisk.base.results import Bound
    from reidrisk.present.pages.bounds import page

    entries = list(theory.summary(io.read_channel(matrix)))
    limits = [entry for entry in entries if isinstance(entry, Bound)]
    tightest = [theory.tightest(limits, setting) for setting in dict.fromkeys(bound.setting for bound in limits)]

    def said(entry: Any) -> dict[str, Any]:
        return {**entry.to_dict(), "reading": entry.reading}

    values = {
        "bounds": [said(bound) | {"says_something": bound.says_something} for bound in limits],
        "measurements": [said(entry) for entry in entries if not isinstance(entry, Bound)],
        "tightest": [said(found) for found in tightest],
    }
    output.show(page(entries, matrix.name), values, as_json)
