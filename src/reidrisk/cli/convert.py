"""`reidrisk convert`: from one table format to another, and from TFRecord files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from reidrisk.cli import output


def convert(
    sources: Annotated[list[Path], typer.Argument(help="Tables, or TFRecord files of a public Topics release.")],
    out: Annotated[Path, typer.Option(help="File to write; its ending chooses the format.")],
    layout: Annotated[str | None, typer.Option(help="'wide' or 'long'.")] = None,
    n_tokens: Annotated[int | None, typer.Option(help="Size of the system's vocabulary.")] = None,
    vocabulary: Annotated[
        Path | None, typer.Option(help="All labels of the system: one per line, or a JSON list.")
    ] = None,
) -> None:
    """Turn tables or TFRecord files into Parquet, CSV, Arrow or NPZ."""
    from reidrisk import io

    output.check_writable(out, inputs=(*sources, vocabulary))
    labels = None if vocabulary is None else io.read_vocabulary(vocabulary)
    output.say(io.convert(sources, out, layout=layout, n_tokens=n_tokens, vocabulary=labels))
