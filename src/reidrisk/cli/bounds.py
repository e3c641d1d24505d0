"""`reidrisk bounds`: every bound of the framework on one matrix."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from reidrisk.cli import output
from reidrisk.cli.audit import Json

__all__ = ["bounds"]


def bounds(
    matrix: Annotated[Path, typer.Argument(help="Row-stochastic matrix (users x outputs): NPZ, CSV or Parquet.")],
    as_json: Json = False,
) -> None:
    """Print what no attacker can beat, given who says what with which probability."""
    from reidrisk import bounds as theory
    from reidrisk import io
    from reidrisk.base.results import Bound

    entries = list(theory.summary(io.read_channel(matrix)))
    limits = [entry for entry in entries if isinstance(entry, Bound)]
    tightest = [theory.tightest(limits, setting) for setting in dict.fromkeys(bound.setting for bound in limits)]
    if as_json:
        values = {
            "bounds": [bound.to_dict() | {"says_something": bound.says_something} for bound in limits],
            "measurements": [entry.to_dict() for entry in entries if not isinstance(entry, Bound)],
            "tightest": [found.to_dict() for found in tightest],
        }
        output.print_json(values)
        return
    output.print_bounds(entries, tightest)
