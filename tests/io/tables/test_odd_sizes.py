"""Odd but honest input takes time and memory in proportion to its size."""

from __future__ import annotations

import gzip
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from reidrisk import bandits, io
from reidrisk.base.errors import FormatError, SizeError
from reidrisk.io.tables import csv_files


def seconds(call: Callable[[], object]) -> float:
    """Return the processor's time, the least of three."""
    taken = []
    for _ in range(3):
        began = time.process_time()
        call()
        taken.append(time.process_time() - began)
    return min(taken)


def test_many_epochs_take_time_in_proportion(tmp_path: Path) -> None:
    for r in (4_000, 16_000):
        np.savez(tmp_path / f"{r}.npz", user=np.arange(2), tokens=np.zeros((2, r), dtype=np.int16))
    few, many = (seconds(lambda r=r: io.read_traces(tmp_path / f"{r}.npz")) for r in (4_000, 16_000))  # type: ignore[misc]
    assert many < 8 * few, "four times as many epochs take four times as long; looking up each in a list took sixteen"


def test_one_long_label_does_not_make_all_of_them_long(tmp_path: Path) -> None:
    rows = "".join(f"u{i % 5},{i},{'abc'[i % 3]}\n" for i in range(2_000))
    (tmp_path / "log.csv").write_text("user,timestamp,state\n" + rows + "u1,9999," + "7" * 60_000 + "\n")
    tracemalloc.start()
    found = bandits.from_log(tmp_path / "log.csv")
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(found.states) == 4
    assert most < 50_000_000, most  # 2,001 texts of 60,000 characters would be 480 MB


def test_too_many_columns_are_refused_at_the_header(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ",".join(f"epoch_{i}" for i in range(300))
    (tmp_path / "t.csv").write_text(f"user,{names}\n" + "this is never looked at\n")
    monkeypatch.setenv("REIDRISK_MAX_COLUMNS", "300")
    with pytest.raises(SizeError, match="301 columns are more than the 300"):
        io.read_traces(tmp_path / "t.csv")


def test_a_gap_after_many_columns_is_found_without_counting_up_to_the_last(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("user,epoch_0,epoch_999999999\nann,1,2\n")
    began = time.process_time()
    with pytest.raises(FormatError, match="epoch_1"):
        io.read_traces(tmp_path / "t.csv")
    assert time.process_time() - began < 5


def test_a_header_without_end_is_refused_before_it_is_read_whole(tmp_path, monkeypatch):
    monkeypatch.setattr(csv_files, "_BLOCKS", (1 << 10, 1 << 12, 1 << 14))
    path = tmp_path / "long.csv.gz"
    with gzip.open(path, "wt") as file:
        file.write("0" * 1_000_000)
    with pytest.raises(FormatError, match=r"the header is longer than 16,384 characters"):
        csv_files.csv_header(path, "long.csv.gz")
    path.write_bytes(gzip.compress(b"user,epoch_0\nann,1\n"))
    assert csv_files.csv_header(path, "short.csv.gz") == ["user", "epoch_0"]
