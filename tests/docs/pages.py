"""Pages of the documentation, cut into what can be run: Python blocks, console blocks, files to write."""

from __future__ import annotations

import doctest
import io
import os
import re
import shlex
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

from reidrisk.cli import main

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]

_FENCE = re.compile(r"^(?P<indent> *)```(?P<info>[^\n`]*)\n(?P<text>.*?)^(?P=indent)```\s*$", re.MULTILINE | re.DOTALL)
_TITLE = re.compile(r'title="([^"]+)"')
_NEEDS_SHELL = re.compile(r"^(?!reidrisk )|[|<>&;$*`]")
_FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, the title of a file it stands for, its text, and the line it starts on."""

    language: str
    title: str | None
    text: str
    line: int


def blocks(page: Path) -> list[Block]:
    """Return the fenced blocks of a page."""
    text = page.read_text(encoding="utf-8")
    found = []
    for match in _FENCE.finditer(text):
        info = match["info"].strip()
        title = _TITLE.search(info)
        indent = len(match["indent"])
        lines = "".join(line[indent:] if line.strip() else "\n" for line in match["text"].splitlines(keepends=True))
        line = text.count("\n", 0, match.start()) + 1
        found.append(Block(info.split(" ")[0] if info else "", title and title[1], lines, line))
    return found


class Runner:
    """Runs the blocks of one page, in order, in one folder and one Python namespace."""

    def __init__(self, page: Path, folder: Path) -> None:
        self.page, self.folder = page, folder
        self.names: dict[str, object] = {"__name__": "__docs__"}
        self.last_exit = 0

    def run(self, block: Block) -> None:
        """Run one block, whatever it is; languages that nobody can run are passed over."""
        if block.title is not None:
            (self.folder / block.title).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / block.title).write_text(block.text, encoding="utf-8")
        if block.language in ("python", "pycon", "py"):
            self._python(block)
        elif block.language == "console":
            self._console(block)

    def _python(self, block: Block) -> None:
        where = f"{self.page.name}:{block.line}"
        if ">>> " not in block.text:
            exec(compile(block.text, where, "exec"), self.names)
            return
        test = doctest.DocTestParser().get_doctest(block.text, self.names, where, str(self.page), block.line)
        report: list[str] = []
        runner = doctest.DocTestRunner(optionflags=_FLAGS)
        failed = runner.run(test, out=report.append, clear_globs=False).failed
        self.names = test.globs
        assert not failed, "".join(report)

    def _console(self, block: Block) -> None:
        for command, expected in _commands(block.text):
            self.last_exit, said = (
                self._called(command) if _NEEDS_SHELL.search(command) is None else self._shell(command)
            )
            where = f"{self.page.name}:{block.line}: $ {command}"
            assert self.last_exit != 70, f"{where}\n{said}"
            _check(where, expected, said)

    def _called(self, command: str) -> tuple[int, str]:
        """Run a command of ours in this process: starting another takes longer than most commands."""
        out, err, code = io.StringIO(), io.StringIO(), 0
        before = Path.cwd()
        os.chdir(self.folder)
        try:
            with redirect_stdout(out), redirect_stderr(err):
                main(shlex.split(command.replace("\\\n", " "))[1:])
        except SystemExit as leave:
            code = int(leave.code or 0)
        finally:
            os.chdir(before)
        return code, out.getvalue() + err.getvalue()

    def _shell(self, command: str) -> tuple[int, str]:
        done = subprocess.run(
            ["bash", "-c", f"(exit {self.last_exit}); {command}"],  # `echo $?` speaks of the command before it
            cwd=self.folder,
            env=_environment(),
            capture_output=True,
            text=True,
            timeout=120,
        )
        return done.returncode, done.stdout + done.stderr


def _environment() -> dict[str, str]:
    bin_folder = str(Path(sys.executable).parent)
    return {**os.environ, "PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "110", "NO_COLOR": "1"}


def _commands(text: str) -> list[tuple[str, list[str]]]:
    """Split a session into commands (a backslash goes on) and what they print; without '$ ' nothing is run."""
    found: list[tuple[str, list[str]]] = []
    goes_on = False
    for line in text.splitlines():
        if goes_on:
            found[-1] = (f"{found[-1][0]}\n{line.removeprefix('> ')}", [])
        elif line.startswith("$ "):
            found.append((line[2:], []))
        elif found:
            found[-1][1].append(line)
        goes_on = line.endswith("\\") and (goes_on or line.startswith("$ "))
    return found


def _check(where: str, expected: list[str], got: str) -> None:
    """Every expected line occurs, in this order; blanks and box drawing do not count, '...' stands for anything."""
    lines = [_plain(line) for line in got.splitlines()]
    at = 0
    for wanted in filter(None, map(_plain, expected)):
        pattern = re.compile(".*".join(re.escape(part) for part in wanted.split("...")))
        hit = next((i for i in range(at, len(lines)) if pattern.fullmatch(lines[i])), None)
        assert hit is not None, f"{where}\nshould print: {wanted}\nbut printed:\n{got}"
        at = hit + 1


def _plain(line: str) -> str:
    return " ".join(re.sub(r"[─-╿|]", " ", line).split())
