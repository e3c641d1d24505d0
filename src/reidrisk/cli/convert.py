"""`reidrisk convert`: from one table format to another, and from TFRecord files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from reidrisk.cli import output

__all__ = ["convert"]


def convert(
    sources: Annotated[list[Path], typer.Argument(help="Tables, or TFRecord files of a public Topics release.")],
    out: Annotated[Path, typer.Option(help="File to write; its ending chooses the format.")],
    layout: Annotated[str | None, typer.Option(help="'wide' or 'long'.")] = None,
) -> None:
    """Turn tables or TFRecord files into Parquet, CSV, Arrow or NPZ."""
    from reidrisk import io

    output.check_writable(out)
    print(io.convert([Path(source) for source in sources], out, layout=layout))
