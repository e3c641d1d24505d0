"""`reidrisk convert`: from one table format to another, and from TFRecord files."""

from pathlib import Path

from reidrisk.cli import output
from reidrisk.cli.parameters import argument, option


def convert(
    sources: list[Path] = argument(..., "Tables, or TFRecord files of a public Topics release."),
    out: Path = option(..., "File to write; its ending chooses the format."),
    layout: str | None = option(None, "'wide' or 'long'."),
    n_tokens: int | None = option(None, "Size of the system's vocabulary."),
    vocabulary: Path | None = option(None, "All labels of the system: one per line, or a JSON list."),
) -> None:
    """Turn tables or TFRecord files into Parquet, CSV, Arrow or NPZ."""
    from reidrisk import io

    output.check_writable(out, inputs=(*sources, vocabulary))
    labels = None if vocabulary is None else io.read_vocabulary(vocabulary)
    output.say(io.convert(sources, out, layout=layout, n_tokens=n_tokens, vocabulary=labels).reading)
