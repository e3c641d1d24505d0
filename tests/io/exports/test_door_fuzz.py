"""Hundreds of exports, damaged or odd: each is read with a line that says how, or refused with one that says why."""

import gzip
import io as streams
import json
import zlib

import numpy as np
import polars as pl
import pytest

from offices import DIALECTS, loyalty, write
from reidrisk import io
from reidrisk.base.errors import ReidRiskError
from reidrisk.io import Reading
from reidrisk.present import words

ROWS = loyalty(people=12, visits=4)[0]
HEADERS = [
    ("customer", "date", "category", "price"),
    ("ID", "When", "What", "How much"),
    ("", "", "", ""),
    ("a", "a", "b", "c"),
    ("user", "epoch", "token", "count"),
    ("user", "time", "date", "item"),
    ("Kunde;Nr", "Dat,um", 'Kate"gorie', "Preis\n"),
    ("1", "2", "3", "4"),
    ("customer", "client", "item", "product"),
    ("lat", "lon", "user", "day"),
    ("x" * 3000, "\x7f", "\x1b[31m", "é"),
]
ODD = ["", "NA", "?", "0", "-1", "1e400", "nan", "31.02.2024", "2024-13-45", "99:99", '"', "[1,2]", "['a']", "é" * 50]
ODD += [
    "\0",
    "9" * 400,
    "1,5",
    "1.234.567,8",
    "true",
    "٣",
    "\x1a",
    "=1+1",
    "{}",
    "13/13/2024",
    "24.12.24",
    " ",
    "\u00a0",
]


def damaged(rng, folder, seed):
    """Make one odd file and what somebody says of it."""
    rows = [list(row) for row in ROWS[: int(rng.integers(0, len(ROWS)))]]
    header = HEADERS[int(rng.integers(len(HEADERS)))] if rng.random() < 0.5 else HEADERS[0]
    dialect = str(rng.choice(list(DIALECTS)))
    path = write(folder / f"f{seed}", [tuple(row) for row in rows], header, dialect)
    content = path.read_bytes()
    content = gzip.decompress(content) if path.name.endswith(".gz") else content
    for _ in range(int(rng.choice(4, p=[0.4, 0.3, 0.2, 0.1]))):
        content = _hurt(rng, content)
    endings = [".csv", ".txt", ".tsv", "", ".csv.gz", ".jsonl", ".parquet", ".xlsx", ".arrow", ".json"]
    ending = str(rng.choice(endings, p=[0.3, 0.1, 0.1, 0.1, 0.2, 0.04, 0.04, 0.04, 0.04, 0.04]))
    path = folder / f"g{seed}{ending}"
    if rng.random() < 0.15:
        content = _other_format(rng, content)
    path.write_bytes(gzip.compress(content) if ending == ".csv.gz" and rng.random() < 0.8 else content)
    said = {}
    for name, values in {
        "user": ["customer", "nobody", "none", "ID"],
        "time": ["date", "price", "none"],
        "items": ["category", "price", "*"],
        "amount": ["price", "none", "date"],
        "layout": ["log", "people", "lists", "wide", "long"],
        "delimiter": [";", "tab", ",", " "],
        "comment": ["#", "customer"],
        "grid": ["500m"],
        "columns": ["a,b,c,d", "price=number", "customer"],
        "dates": ["day-first", "month-first"],
        "merge_case": [True],
        "channels": [True],
        "skip_bad_rows": [True],
    }.items():
        if rng.random() < 0.06:
            said[name] = values[int(rng.integers(len(values)))]
    return path, said


def _hurt(rng, content):
    """Damage a file in one of the ways that happen."""
    kind, at = int(rng.integers(9)), int(rng.integers(len(content) + 1))
    if kind == 0:
        return content[:at]
    if kind == 1:
        return content[:at] + bytes(rng.integers(0, 256, int(rng.integers(1, 20)), dtype=np.uint8)) + content[at:]
    if kind == 2:
        return content.replace(b"\n", b"\r")
    if kind == 3:
        return content.replace(b",", b";", int(rng.integers(1, 9)))
    if kind == 4:
        lines = content.split(b"\n")
        lines.insert(int(rng.integers(len(lines))), b'total,"')
        return b"\n".join(lines)
    if kind == 5:
        cells = content.split(b",")
        for place in rng.integers(0, len(cells), 3):
            cells[int(place)] = str(ODD[int(rng.integers(len(ODD)))]).encode()
        return b",".join(cells)
    if kind == 6:
        return content + content
    if kind == 7:
        return b"\n".join(sorted(content.split(b"\n")))
    return b"Report of the month\n\n" + content


def _other_format(rng, content):
    """Return something else than text: a table in another format, whole or cut."""
    frame = pl.DataFrame({"user": [1, 1, 2], "item": ["a", None, "b"], "when": [[1], [2, 3], None]})
    stream = streams.BytesIO()
    kind = int(rng.integers(5))
    if kind == 0:
        frame.write_parquet(stream)
    elif kind == 1:
        frame.write_ipc(stream)
    elif kind == 2:
        stream.write("\n".join(json.dumps(row) for row in frame.to_dicts()).encode())
    elif kind == 3:
        stream.write(json.dumps(frame.to_dicts()).encode())
    else:
        stream.write(zlib.compress(content))
    whole = stream.getvalue()
    return whole if rng.random() < 0.6 else whole[: int(rng.integers(len(whole) + 1))]


@pytest.mark.parametrize("part", range(8))
def test_the_door_reads_or_refuses_in_one_line(part, tmp_path):
    outcomes = {"read": 0, "refused": 0}
    for seed in range(part * 50, part * 50 + 50):
        rng = np.random.default_rng(seed)
        path, said = damaged(rng, tmp_path, seed)
        found, why = read(path, said)
        if found is None:
            assert "\n" not in why, (seed, said, why)
            assert len(why) > 20, (seed, said)
            outcomes["refused"] += 1
            continue
        line = words.sentence(found.how)
        assert line.startswith(path.name), seed
        assert all(words.sentence(note) for note in found.notes), seed
        assert len(found.records) > 0, seed
        outcomes["read"] += 1
    assert min(outcomes.values()) >= 4, outcomes


def read(path, said):
    try:
        return io.read_export(path, Reading(**said)), ""
    except ReidRiskError as error:
        return None, str(error)
