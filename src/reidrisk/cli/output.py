"""What a person sees: tables on standard output, progress and remarks on standard error."""

import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from reidrisk.base import OptionError, Progress, ReidRiskError, printable, require, silent
from reidrisk.present.console import print_page
from reidrisk.present.model import Page
from reidrisk.present.terms import Terms
from reidrisk.present.words.stages import stage_said

_WIDTH = 110  # when output goes to a file or a pipe, where no terminal says how wide it is


def print_json(values: Any) -> None:
    """Print plain values as JSON, for programs; beyond visible ASCII everything is an escape of JSON's own."""
    print(json.dumps(values, indent=2, allow_nan=False).replace("\x7f", "\\u007f"))


def write_json(values: Any, path: Path, indent: int | None = 2) -> None:
    """Write plain values as a JSON file; an interrupted run leaves the old file or none."""
    from reidrisk.io.atomic import write_text

    write_text(json.dumps(values, indent=indent, allow_nan=False) + "\n", path)


def write_page(page: Page, path: Path) -> None:
    """Write a page as one offline HTML file, and say where it is."""
    from reidrisk.present import html

    html.write(page, path)
    remark(f"written: {path}")


def show(page: Page, values: Any = None, as_json: bool = False) -> None:
    """Print a page, or its values as JSON."""
    if as_json:
        print_json(values)
    else:
        print_page(page, console())


def say(*lines: str) -> None:
    """Print lines on standard output; whatever a label or a file name holds, a line stays one and harmless."""
    for line in lines:
        print(printable(line))


def follow(command: str) -> None:
    """Print the command that may follow."""
    say("", "Now try:", "", f"  {command}")


def answer(values: dict[str, Any], said: str, as_json: bool) -> None:
    """Print what is said of a result in one sentence, or its values with it as JSON."""
    print_json({**values, "reading": said}) if as_json else say(said)


def remark(text: str) -> None:
    """Say something on standard error, beside the results; nothing is lost where nobody listens."""
    with suppress(BrokenPipeError):
        print(printable(text), file=sys.stderr)


def check_writable(*paths: Path | None, inputs: Sequence[Path | None] = ()) -> None:
    """Refuse, before a long job, an output that cannot be written, or that would overwrite what is read.

    Folders that are missing are made when the file is written. Pipes and devices are written into, and may be shared.
    """
    from reidrisk.io.atomic import is_stream, is_write_protected

    # Unlike Path.resolve, realpath ends at a link that leads back to itself.
    taken = {os.path.realpath(path) for path in inputs if path is not None}
    for path in paths:
        if path is None:
            continue
        if is_write_protected(path):
            raise OptionError(f"cannot write {path}: it is write-protected; give another name, or permit writing it")
        if is_stream(path):
            continue
        final = os.path.realpath(path)
        if os.path.islink(final):
            raise OptionError(f"cannot write {path}: the link leads back to itself; give another name, or remove it")
        if final in taken:
            raise OptionError(f"cannot write {path}: it is also an input or another output; give it a name of its own")
        taken.add(final)
        if path.is_dir():
            raise OptionError(f"cannot write {path}: it is a folder; give a file name")
        check_folder(Path(final).parent)


def check_folder(folder: Path) -> None:
    """Refuse, before a long job, a folder that cannot be made after it, or not be written into."""
    there = next(path for path in (folder, *folder.absolute().parents) if os.path.lexists(path))
    if not there.is_dir():
        raise OptionError(f"cannot write into {folder}: {there} is a file; give a folder")
    try:
        with tempfile.TemporaryFile(dir=there):
            pass
    except OSError as error:
        raise OptionError(f"cannot write into {folder}: {error.strerror} in {there}; give another folder") from error


def lock(context: typer.Context, path: Path, is_folder: bool = False) -> None:
    """Keep other runs from writing the same file or folder until this command has ended."""
    from reidrisk.io.atomic import is_stream, locked

    if not is_stream(path) and not context.with_resource(locked(path, is_folder)):
        remark(f"careful: nothing can be locked here, so make sure that no other run writes {path}")


def check_report(path: Path | None) -> None:
    """Refuse, before a long job, a report that could not be written after it."""
    check_made(path, "the report is an HTML file", (".html", ".htm"), "jinja2")


def check_evidence(path: Path | None) -> None:
    """Refuse, before a long job, a pack that could not be written after it."""
    check_made(path, "an evidence pack is a ZIP file", (".zip",), "jinja2")


def check_made(path: Path | None, what: str, endings: tuple[str, ...], *modules: str) -> None:
    """Refuse, before a long job, what could not be drawn after it: by the ending of its name, or without a library."""
    from reidrisk.io.atomic import is_stream

    if path is None:
        return
    if not is_stream(path) and path.suffix.lower() not in endings:
        raise OptionError(f"{what}; give it a name that ends in {' or '.join(endings)}, not {path.name!r}")
    for module in ("altair", "vl_convert", *modules):
        require(module, "report", "a page or a chart")


def do_each(files: Sequence[tuple[Path | None, Callable[[Path], None]]], show: Callable[[], None]) -> None:
    """Write each file that has a name, then print; go on after a failure, and raise the first at the end.

    Regular files come first, then pipes and devices, then what is printed: who reads those may go away, or never come.
    """
    from reidrisk.io.atomic import is_stream

    named = sorted(((path, write) for path, write in files if path is not None), key=lambda file: is_stream(file[0]))
    steps: list[Callable[[], None]] = [*(partial(write, path) for path, write in named), show]
    failures: list[Exception] = []
    for step in steps:
        try:
            step()
        except (ReidRiskError, OSError) as error:
            failures.append(error)
    if failures:
        raise failures[0]


@contextmanager
def progress_bar(terms: Terms | None = None) -> Iterator[Progress]:
    """Show stage, bar and time left on standard error, where that is a terminal; ``terms`` are for the stages."""
    terminal = Console(stderr=True)
    if not terminal.is_terminal:
        yield silent
        return
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TimeRemainingColumn())
    with Bar(*columns, console=terminal, transient=True) as bar:
        task = bar.add_task("starting", total=1.0)
        said = partial(stage_said, terms=terms)
        yield lambda stage, share: bar.update(task, description=printable(said(stage)), completed=share)


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Let the command line choose the exit code: rich's own, 1, would read as a failed gate."""
        raise BrokenPipeError


def console() -> Console:
    """Return where tables go: as wide as the terminal, or as COLUMNS says, or 110 characters.

    Labels and names in them, which anyone may have written, are made :func:`harmless` first.
    """
    found = _Console()
    if found.is_terminal:
        return found
    given = os.environ.get("COLUMNS", "")
    # Other programs set it too: what is no width is not looked at.
    return _Console(width=int(given) if given.isascii() and given.isdecimal() and len(given) < 6 else _WIDTH)
