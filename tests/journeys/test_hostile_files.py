"""Hostile files and figures through the command line: exit 2, one line, little time and little memory."""

import gzip
import json
import os
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

GOOD = "user,epoch_0,epoch_1\nann,1,2\nbob,3,4\n"


def refused(done, *words):
    assert done.code == 2, done
    assert done.out == ""
    assert done.err.startswith("reidrisk: ")
    assert done.err.count("\n") == 1, done.err
    for word in words:
        assert word in done.err, done.err


def in_a_process(tmp_path, *arguments, **environment):
    """Run a command with 3 GB of memory: what asks for more ends in another way."""
    limited = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30)); "
        "from reidrisk.cli import main; main(sys.argv[1:])"
    )
    command = [sys.executable, "-c", limited, *map(os.fsencode, map(str, arguments))]
    return subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=120, env=os.environ | environment)


def test_a_hostile_sparse_matrix_does_not_end_the_process(tmp_path):
    parts = {"format": b"csr", "shape": [2, 2], "data": [1.0, 1.0], "indices": [0, 1], "indptr": [0, 2_000_000, 2]}
    np.savez(tmp_path / "p.npz", **parts)
    done = in_a_process(tmp_path, "bounds", "p.npz")
    assert done.returncode == 2, done
    assert b"indptr" in done.stderr


def test_sizes_beyond_all_bounds_are_refused(reidrisk, table):
    table("a.csv", "user,epoch_0\nann,news\nbob,cars\n")
    refused(reidrisk("audit", "a.csv", "a.csv", "--n-tokens", 100_000_000), "100,000,000", "10,000,000")
    refused(reidrisk("demo", "--users", 10**30), "1e30")
    refused(reidrisk("demo", "--users", 10**12), "REIDRISK_MAX_CELLS")
    log = "user,timestamp,state\n" + "".join(f"u{i % 3},{i},{'ab'[i % 2]}\n" for i in range(30))
    table("log.csv", log)
    refused(reidrisk("bandits", "tradeoff", "log.csv", "--runs", 10**12), "1,000,000,000,000 runs")
    refused(reidrisk("bandits", "tradeoff", "log.csv", "--steps", 10**12), "1,000,000,000,000 steps")


def test_users_without_end_are_refused(reidrisk, tmp_path):
    pytest.importorskip("safetensors")
    from reidrisk.release import PUBLISHED, TypeMixture

    TypeMixture(np.zeros((3, 2, 2, 4)), statement=PUBLISHED).save(tmp_path / "m.safetensors")
    refused(reidrisk("release", "sample", "m.safetensors", "--users", 10**30, "--out", "users"), "1e30 users")
    assert not (tmp_path / "users").exists()


def test_sets_of_a_declared_size_without_end_are_refused(reidrisk, tmp_path):
    lists = pa.table({"user": [1, 2], "epoch_0": [[1, 2], [0]], "epoch_1": [[1], [0]]})
    document = json.dumps({"n_tokens": 5, "k": 10**9})
    pq.write_table(lists.replace_schema_metadata({"reidrisk": document}), tmp_path / "s.parquet")
    measured = ("release", "measure", "s.parquet", "--epsilon", 1, "--delta", 1e-9, "--out", "stats")
    refused(reidrisk(*measured), "s.parquet")
    pq.write_table(lists, tmp_path / "s.parquet")
    refused(reidrisk(*measured, "--top-k", 10**9, "--n-tokens", 10_000_000), "top-k")


def test_a_bomb_is_refused_in_little_memory(tmp_path):
    with gzip.open(tmp_path / "t.csv.gz", "wb", compresslevel=9) as file:
        file.write(b"user,epoch_0\nann,")
        for _ in range(40):
            file.write(b"0" * 5_000_000)
    done = in_a_process(tmp_path, "audit", "t.csv.gz", "t.csv.gz", REIDRISK_MAX_BYTES="100000000")
    assert done.returncode == 2, done
    assert b"100,000,000" in done.stderr


@pytest.mark.parametrize("name", ["/dev/zero", "pipe.csv", "/dev/stdin"])
def test_what_is_no_file_is_refused_at_once(tmp_path, name):
    os.mkfifo(tmp_path / "pipe.csv")
    (tmp_path / "a.csv").write_text(GOOD)
    link = tmp_path / "zero.csv"
    link.symlink_to(name) if name.startswith("/dev") else None
    done = in_a_process(tmp_path, "audit", link if name.startswith("/dev") else name, "a.csv")
    assert done.returncode == 2, done
    assert done.stderr.count(b"\n") == 1


RESULTS = {
    "nested too deep": "[" * 200_000,
    "a number of 5,000 digits": '{"format": ' + "1" * 5_000 + "}",
    "no spec": '{"format": 1, "spec": null}',
    "a list": "[]",
}


@pytest.mark.parametrize("case", RESULTS)
@pytest.mark.parametrize("command", [("gate", "r.json", "--max-risk", 0.5), ("audit", "--spec", "r.json")])
def test_a_result_that_is_none_is_refused(reidrisk, table, case, command):
    table("r.json", RESULTS[case])
    refused(reidrisk(*command))


def test_a_result_without_a_spec_is_refused(reidrisk, pair):
    assert reidrisk("audit", *pair, "--n-tokens", 50, "--result", "r.json", "--seed", 1).code == 0
    with open("r.json") as file:
        document = json.load(file)
    for name in ("spec", "descriptions", "versions"):
        with open("r.json", "w") as file:
            json.dump(document | {name: None}, file)
        refused(reidrisk("gate", "r.json", "--max-risk", 0.5))


@pytest.mark.parametrize("columns", ["abc", "", "-5", "0", "99999999", "80"])
def test_a_width_that_is_none_is_not_looked_at(reidrisk, pair, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", columns)
    done = reidrisk("audit", *pair, "--n-tokens", 50, "--seed", 1)
    assert done.code == 0, done.err


def test_names_that_are_no_text_are_read_and_refused_in_one_line(reidrisk, tmp_path):
    name = os.fsdecode(b"t\xff.csv")
    (tmp_path / name).write_text(GOOD)
    for ending in ("parquet", "arrow", "npz", "csv.gz"):
        other = os.fsdecode(b"u\xff." + ending.encode())
        assert reidrisk("convert", name, "--out", other).code == 0, ending
        assert reidrisk("convert", other, "--out", "back.csv").code == 0, ending
        assert (tmp_path / "back.csv").read_text().replace('"', "") == GOOD
    (tmp_path / name).write_text("user,epoch_0\nann\n")
    done = in_a_process(tmp_path, "convert", name, "--out", "x.csv")
    assert done.returncode == 2, done
    assert done.stderr.count(b"\n") == 1
    for command in (("audit", name, name), ("bounds", name)):
        refused(reidrisk(*command))
    for ending in ("parquet", "arrow", "npz"):
        other = os.fsdecode(b"t\xff." + ending.encode())
        (tmp_path / other).write_bytes(b"nothing of the kind")
        refused(reidrisk("bounds", other))


def test_a_name_that_a_result_could_not_hold_is_refused_before_the_audit(reidrisk, tmp_path):
    name = os.fsdecode(b"t\xff.csv")
    (tmp_path / name).write_text(GOOD)
    done = reidrisk("audit", name, name, "--result", "r.json")
    refused(done)
    assert "UTF-8" in done.err
    assert not (tmp_path / "r.json").exists()


def test_a_packed_tfrecord_is_held_once_in_memory(tmp_path):
    # Eleven packed files behind each other are one of 1.1 GB.
    (tmp_path / "t.tfrecord.gz").write_bytes(gzip.compress(bytes(100 << 20), compresslevel=1) * 11)
    done = in_a_process(tmp_path, "convert", "t.tfrecord.gz", "--out", "t.parquet")
    assert done.returncode == 2, done
    assert b"record 1" in done.stderr


def test_a_row_of_megabytes_is_read(reidrisk, table, tmp_path):
    table("a.csv", "user,epoch_0,epoch_1\nann," + "x" * 3_000_000 + ",b\nbob,c,d\n")
    assert reidrisk("convert", "a.csv", "--out", "b.parquet").code == 0
    assert pq.read_table(tmp_path / "b.parquet").num_rows == 2
    header = "user," + ",".join(f"epoch_{i}" for i in range(100_000))
    assert len(header) > 1 << 20
    table("wide.csv", header + "\nann," + ",".join(["1"] * 100_000) + "\n")
    refused(reidrisk("audit", "wide.csv", "a.csv"), "100000 epochs")


def test_a_full_disk_under_a_table_of_cohorts_is_one_line(reidrisk, table, monkeypatch):
    import polars as pl

    def full(*_, **__):
        raise pl.exceptions.ComputeError("No space left on device (os error 28)")

    monkeypatch.setattr(pl.DataFrame, "write_csv", full)
    visits = "user,host\n" + "".join(f"u{i},h{j}.org\n" for i in range(4) for j in range(8))
    table("v.csv", visits)
    refused(reidrisk("cohorts", "assign", "v.csv", "--min-size", 2, "--out", "c.csv"), "No space left")
