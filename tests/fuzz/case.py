"""One case of the fuzzer: which door, which damage, and whether it ended as it must."""

from __future__ import annotations

import contextlib
import io
import os
import random
import shutil
import traceback
import unicodedata
from dataclasses import dataclass
from pathlib import Path

from fuzz.doors import DOORS, Door
from fuzz.mutate import damage, hostile_option

__all__ = ["Case", "Ended", "enter", "fault", "prepared"]

_ALLOWED = (0, 1, 2, 3)
_UNSEEN = ("Cc", "Cf", "Cs", "Zl", "Zp")  # controls, directions, halves of characters, other ends of lines
_HARMLESS = "\n\u200c\u200d"  # the end of a line, and what joins letters in some scripts
_SHARES = [door.share for door in DOORS.values()]


@dataclass(frozen=True)
class Case:
    """What is tried: a door, the words of its command, and what was done to its files."""

    number: int
    door: Door
    words: tuple[str, ...]
    told: str


@dataclass(frozen=True)
class Ended:
    """How a call ended: its exit code, what it printed, and where it stumbled if it did."""

    code: int
    out: str = ""
    err: str = ""
    where: str = ""
    """Place and kind of an exception that nobody caught."""


def prepared(seed: int, number: int, corpus: Path, folder: Path) -> Case:
    """Fill an empty folder with the files of a case; the same seed and number always give the same case."""
    rng = random.Random(f"{seed}:{number}")
    door = rng.choices(list(DOORS.values()), _SHARES)[0]
    files = copied(door, corpus, folder)
    words, told = list(door.words), []
    if words and (not files or rng.random() < 0.06):
        told.append(hostile_option(rng, words))
    for file in rng.sample(files, min(len(files), rng.choice((1, 1, 1, 1, 2)))):
        told.append(f"{file.name}: {damage(rng, file)}")
    return Case(number, door, tuple(words), "; ".join(told))


def copied(door: Door, corpus: Path, folder: Path) -> list[Path]:
    """Copy what a door reads into a folder."""
    files = []
    for name in dict.fromkeys(door.files):
        if not (corpus / name).exists():
            continue
        if (corpus / name).is_dir():
            shutil.copytree(corpus / name, folder / name)
            files += sorted((folder / name).iterdir())
        else:
            shutil.copyfile(corpus / name, folder / name)
            files.append(folder / name)
    return files


def enter(door: Door, words: tuple[str, ...]) -> Ended:
    """Call a command or a reader in the working directory, as a user would; everything it prints is caught."""
    from reidrisk.base.errors import ReidRiskError
    from reidrisk.base.foreign import printable
    from reidrisk.cli import main

    # As Python opens them: what cannot be encoded fails on standard output, and is escaped on standard error.
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors="strict", write_through=True)
    err = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors="backslashreplace", write_through=True)
    code, where = 0, ""
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main(list(words)) if door.call is None else door.call()
        except SystemExit as left:
            code = left.code if isinstance(left.code, int) else 0 if left.code is None else 70
        except (ReidRiskError, OSError) as error:  # readers raise what the command line prints
            code = 2
            err.write("reidrisk: " + printable(" ".join(str(error).split())) + "\n")
        except BaseException as error:
            code, where = 70, place(error)
    printed = [stream.buffer.getvalue().decode("utf-8") for stream in (out, err)]  # type: ignore[attr-defined]
    return Ended(code, *printed, where)


def place(error: BaseException) -> str:
    """Return the kind of an exception and the last line of the package on its way."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if f"{os.sep}reidrisk{os.sep}" in frame.filename]
    line = f"{Path(own[-1].filename).name}:{own[-1].lineno}" if own else "elsewhere"
    return f"{type(error).__name__} at {line}: {' '.join(str(error).split())[:120]}"


def _is_refusal(text: str) -> bool:
    """Tell whether this is one line, perhaps after those that say how exports were understood."""
    *before, last = text.splitlines() or [""]
    understood = not before or " is read as " in before[0]
    return understood and text.endswith("\n") and last.startswith("reidrisk: ")


def fault(ended: Ended) -> str | None:
    """Say what is wrong with how a call ended: it has to be exit 0 to 3 and printable text, one line with exit 2."""
    if ended.where:
        return ended.where
    if ended.code not in _ALLOWED:
        return f"exit {ended.code}: {ended.err.strip()[:150]!r}"
    for name, text in (("output", ended.out), ("error", ended.err)):
        odd = next((c for c in text if unicodedata.category(c) in _UNSEEN and c not in _HARMLESS), None)
        if odd is not None:
            return f"unprintable {odd!r} on standard {name}"
    if ended.code == 2 and not _is_refusal(ended.err):
        return f"not one line: {ended.err[:150]!r}"
    if "not enough memory" in ended.err:
        return f"memory: {ended.err.strip()[:150]}"
    return None
