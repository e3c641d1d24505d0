"""Stopping: a termination or a hang-up ends a job as Ctrl-C does, with files and checkpoints in order."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

_NAMES = ("SIGTERM", "SIGHUP")  # Windows has no hang-up


@contextmanager
def stop_signals(came: list[int] | None = None) -> Iterator[list[int]]:
    """Turn SIGTERM and SIGHUP into a KeyboardInterrupt while the block runs.

    A signal that is ignored from the start, as under ``nohup``, stays ignored. After the first one further ones are
    ignored, so that a checkpoint that is being written is written to its end. ``came`` takes the number of the signal:
    the caller knows it also where one comes before the block has begun.
    """
    came = [] if came is None else came
    if threading.current_thread() is not threading.main_thread():  # signals can be set up in that one alone
        yield came
        return
    wanted = [getattr(signal, name) for name in _NAMES if hasattr(signal, name)]

    def stop(number: int, frame: FrameType | None) -> None:
        if not came:
            came.append(number)
            raise KeyboardInterrupt

    before: dict[int, Any] = {}
    try:
        for number in wanted:
            if signal.getsignal(number) == signal.SIG_DFL:
                before[number] = signal.signal(number, stop)
        yield came
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
