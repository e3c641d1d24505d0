"""Hand out cases to worker processes, watch over them, and gather what went wrong."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

from fuzz import worker
from fuzz.case import Ended

__all__ = ["Findings", "drive"]

HANG = 20.0
"""Seconds after which a case that has not ended is a hang."""
_LOADING = 180.0
"""Seconds for the first, undamaged call of a door, which loads libraries and compiles kernels."""
_TESTS = Path(__file__).parents[1]


@dataclass
class Findings:
    """What came of a run."""

    cases: int = 0
    codes: dict[int, int] = field(default_factory=dict)
    doors: dict[str, list[float]] = field(default_factory=dict)
    """Seconds of each case, by door."""
    wrong: list[dict[str, Any]] = field(default_factory=list)
    good: dict[str, Ended] = field(default_factory=dict)
    """How each door ended with good files, where that was asked for."""
    ran: set[str] = field(default_factory=set)
    """File and line of every function that ran behind these doors."""


def drive(
    seed: int, cases: int, corpus: Path, saved: Path, workers: int = 2, first: int = 0, doors: Iterable[str] = ()
) -> Findings:
    """Enter ``doors`` with good files, then try the cases ``first`` to ``first + cases - 1`` of a seed."""
    tasks = chain(doors, range(first, first + cases))
    lock, found = threading.Lock(), Findings()
    threads = [threading.Thread(target=_watch, args=(seed, tasks, corpus, saved, found, lock)) for _ in range(workers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found.wrong.sort(key=lambda wrong: wrong["done"])
    return found


def _watch(
    seed: int, tasks: Iterator[str | int], corpus: Path, saved: Path, found: Findings, lock: threading.Lock
) -> None:
    """Keep one worker busy; where it dies or hangs, note the case and start another."""
    process: _Worker | None = None
    while True:
        with lock:
            number = next(tasks, None)
        if number is None:
            break
        process = process or _Worker(seed, corpus, saved)
        answer = process.ask(number)
        if isinstance(number, str):
            if answer is None:
                process, answer = None, {"ended": {"code": 70, "where": process.end()}, "ran": ()}
            with lock:
                found.good[number] = Ended(**answer["ended"])
                found.ran.update(answer["ran"])
            continue
        if answer is None:
            wrong = process.end()
            process = None
            answer = {"done": number, "wrong": wrong, "door": "", "told": "", "code": 70, "seconds": 0.0}
            try:
                case = worker.keep(seed, number, corpus, saved, wrong)
                answer |= {"door": case.door.name, "told": case.told}
            except Exception as error:
                answer["wrong"] = f"the fuzzer itself: {error!r}"
        elif str(answer["wrong"]).startswith("memory"):
            process.end()  # what it has had hides what the next one takes
            process = None
        with lock:
            found.cases += 1
            found.codes[answer["code"]] = found.codes.get(answer["code"], 0) + 1
            found.doors.setdefault(answer["door"], []).append(answer["seconds"])
            if answer["wrong"] is not None:
                found.wrong.append(answer)
    if process is not None:
        process.end()


class _Worker:
    """A worker process, and the lines that it has said."""

    def __init__(self, seed: int, corpus: Path, saved: Path) -> None:
        path = os.pathsep.join([str(_TESTS), *filter(None, [os.environ.get("PYTHONPATH")])])
        one = dict.fromkeys(("OMP_NUM_THREADS", "POLARS_MAX_THREADS", "NUMBA_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        self._process = subprocess.Popen(
            [sys.executable, "-m", "fuzz.worker", str(seed), str(corpus), str(saved)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | one | {"PYTHONPATH": path, "COLUMNS": "110"},
        )
        self._said: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._said.put(line)
        self._said.put(None)

    def ask(self, task: str | int) -> dict[str, Any] | None:
        """Have a case tried or a door entered; nothing comes back where the worker died or hangs."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(f"{task}\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            return None
        until = time.monotonic() + _LOADING
        while True:
            try:
                line = self._said.get(timeout=max(0.0, until - time.monotonic()))
            except queue.Empty:
                return None
            if line is None:
                return None
            answer: dict[str, Any] = json.loads(line)
            if "ready" in answer:
                until = time.monotonic() + HANG
            if "done" in answer:
                return answer

    def end(self) -> str:
        """Stop the process; say how it ended if it already had."""
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        try:
            code = self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
            return "hang"
        return f"died with {code}" if code >= 0 else f"killed by signal {-code}"
