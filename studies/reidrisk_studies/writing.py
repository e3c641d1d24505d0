"""Writing what a study found: numbers as CSV, the chart as PNG, and a page with the published figures beside ours."""

from __future__ import annotations

import csv
import io as text_io
from collections.abc import Sequence
from pathlib import Path

from reidrisk import __version__, io
from reidrisk.base.extras import require
from reidrisk.present import save_chart
from reidrisk_studies.results import StudyResult

__all__ = ["as_csv", "as_markdown", "need_charts", "write"]


def need_charts() -> None:
    """Fail before the long job, not after it, where the chart's libraries are missing."""
    for module in ("altair", "vl_convert"):
        require(module, "report", "the chart of a study")


def write(result: StudyResult, folder: Path) -> tuple[Path, ...]:
    """Write NAME.csv, NAME.png and NAME.md into ``folder``, each in one step; return where they are.

    Parameters
    ----------
    result : StudyResult
        What the study found.
    folder : Path
        Is created where it does not exist.
    """
    need_charts()
    folder.mkdir(parents=True, exist_ok=True)
    numbers, picture, page = (folder / f"{result.name}.{ending}" for ending in ("csv", "png", "md"))
    for path, text in ((numbers, as_csv(result)), (page, as_markdown(result, folder))):
        with io.write_atomically(path) as temporary:
            temporary.write_text(text, encoding="utf-8")
    save_chart(result.chart(), picture)
    return numbers, picture, page


def as_csv(result: StudyResult) -> str:
    """Return the rows as CSV, one header line first; numbers keep all their digits."""
    text = text_io.StringIO()
    writer = csv.DictWriter(text, result.columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(result.rows)
    return text.getvalue()


def as_markdown(result: StudyResult, folder: Path) -> str:
    """Return the page: published beside ours, the chart, the numbers, what they rest on, how to run it again."""
    compared = [(c.quantity, c.published, c.ours, c.why) for c in result.comparisons]
    rows = [tuple(_cell(value) for value in row.values()) for row in result.rows]
    parts = [
        f"# {result.title}",
        f"{result.reference}; run again with {result.users:,} users, seed {result.seed}, reidrisk {__version__}.",
        *(["**Made without all of its data:** " + "; ".join(result.without) + "."] if result.without else []),
        "## Published and ours",
        _table(("quantity", "published", "ours", "why they differ"), compared),
        f"![{result.title}]({result.name}.png)",
        "## Assumptions",
        "\n".join(f"- {assumption}" for assumption in result.assumptions),
        "## Numbers",
        _table(result.columns, rows),
        f"All digits are in `{result.name}.csv`.",
        "## Run it again",
        f"```console\n$ {result.command(str(folder))}\n```",
    ]
    return "\n\n".join(parts) + "\n"


def _table(columns: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    lines = [columns, tuple("---" for _ in columns), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in lines)


def _cell(value: str | int | float) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) else value
