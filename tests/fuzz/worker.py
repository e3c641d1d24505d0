"""A process that tries cases one after the other, so that a crash, a hang or an appetite is its own."""

from __future__ import annotations

import json
import os
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fuzz.case import Case, Ended

__all__ = ["SECONDS", "main"]

SECONDS = 5.0
"""Processor time that a case may take."""
_MEGABYTES = 700
"""Memory that a case may take on top of what the process has had before."""
_ADDRESSES = 4 << 30
"""Addresses that a case may reserve on top of those of the libraries; the charts of a page reserve more than that."""


def main(seed: int, corpus: Path, saved: Path) -> None:
    """Read numbers of cases from standard input, one a line; tell each before it is tried, and what was wrong after.

    A line may also name a door: it is entered with good files, and how that ended is told with all functions that ran.
    """
    from fuzz.case import copied, enter, fault, prepared
    from fuzz.doors import DOORS

    told = os.fdopen(os.dup(1), "w", encoding="utf-8", buffering=1)
    base = Path(tempfile.mkdtemp(prefix="fuzz-", dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None))
    native = os.open(base / "native", os.O_RDWR | os.O_CREAT)  # what libraries print past Python
    os.dup2(native, 1)
    os.dup2(native, 2)
    _keep_the_menu()
    entered: set[str] = set()
    home = base / "case"
    try:
        for line in map(str.strip, sys.stdin):
            if line in DOORS:
                first = _emptied(base / "first")
                copied(DOORS[line], corpus, first)
                os.chdir(first)
                ended, ran = _profiled(partial(enter, DOORS[line], DOORS[line].words))
                entered.add(line)
                os.chdir(base)
                print(json.dumps({"done": line, "ended": asdict(ended), "ran": ran}), file=told)
                continue
            number = int(line)
            print(json.dumps({"case": number}), file=told)
            case = prepared(seed, number, corpus, _emptied(home))
            if case.door.name not in entered:  # libraries are loaded and kernels compiled outside the measured time
                _limit_addresses(None)
                first = _emptied(base / "first")
                copied(case.door, corpus, first)
                os.chdir(first)
                enter(case.door, case.door.words)
                entered.add(case.door.name)
            _limit_addresses(None if ".html" in case.door.name else _ADDRESSES)
            os.chdir(home)
            print(json.dumps({"ready": number}), file=told)
            os.ftruncate(native, 0)
            before, peak = time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            ended = enter(case.door, case.words)
            wrong = fault(ended)
            seconds = time.process_time() - before
            grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak) / 1024
            if wrong is None and os.fstat(native).st_size:
                wrong = f"a library printed {os.pread(native, 120, 0)!r}"
            if wrong is None and seconds > SECONDS:
                wrong = f"slow: {seconds:.1f} seconds"
            if wrong is None and grown > _MEGABYTES:
                wrong = f"memory: {grown:.0f} MB"
            os.chdir(base)
            if wrong is not None:
                keep(seed, number, corpus, saved, wrong)
            document = {"done": number, "wrong": wrong, "door": case.door.name, "told": case.told, "code": ended.code}
            print(json.dumps(document | {"seconds": seconds}), file=told)
    finally:
        shutil.rmtree(base, ignore_errors=True)


def keep(seed: int, number: int, corpus: Path, saved: Path, wrong: str) -> Case:
    """Write the files of a case into a folder of its own, with the command and what was wrong; return the case."""
    from fuzz.case import prepared

    folder = _emptied(saved / f"{seed}-{number}")
    case = prepared(seed, number, corpus, folder)
    command = f"reidrisk {' '.join(map(repr, case.words))}" if case.words else case.door.name
    (folder / "CASE.txt").write_text(f"{command}\n{case.told}\n{wrong}\n", encoding="utf-8", errors="backslashreplace")
    return case


def _profiled(call: Callable[[], Ended]) -> tuple[Ended, list[str]]:
    """Return what a call returns, and every function of the packages under test that ran: file and line of each."""
    ran: set[str] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and "reidrisk" in frame.f_code.co_filename:
            ran.add(f"{frame.f_code.co_filename}:{frame.f_code.co_firstlineno}")

    sys.setprofile(note)
    try:
        return call(), sorted(ran)
    finally:
        sys.setprofile(None)


def _keep_the_menu() -> None:
    """Build the command line once: every call would make all of its options again."""
    import typer.main

    from reidrisk.cli import app as menu

    menu.app = typer.main.get_command(menu.app)  # type: ignore[assignment]
    os.environ["REIDRISK_DEBUG"] = "1"  # exceptions come through, with the place where they were raised


def _emptied(folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def _limit_addresses(more: int | None) -> None:
    limit = resource.RLIM_INFINITY
    if more is not None:
        limit = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize() + more
    resource.setrlimit(resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]))
