"""Released files made to break a reader: users, models and checkpoints are refused in one line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from reidrisk import release
from reidrisk.base.errors import ReidRiskError
from reidrisk.release import PUBLISHED, TypeMixture

DEEP = "[" * 200_000 + "]" * 200_000
LONG = "1" * 5_000


def refused(call: Callable[[], object], *parts: str) -> None:
    with pytest.raises(ReidRiskError) as caught:
        call()
    assert "\n" not in str(caught.value)
    for part in parts:
        assert part in str(caught.value)


def users(folder: Path) -> Path:
    release.write_users(TypeMixture(np.zeros((3, 2, 2, 4)), statement=PUBLISHED), 5, 0, folder)
    return folder / "users-00000-of-00001.parquet"


@pytest.mark.parametrize("text", [DEEP, LONG, "[]", "null", "7", "{", '{"k": "five"}', '{"k": 1e400, "privacy": {}}'])
def test_damaged_synthetic_users_are_refused(text: str, tmp_path: Path) -> None:
    file = users(tmp_path)
    table = pq.read_table(file)
    pq.write_table(table.replace_schema_metadata({"reidrisk": text}), file)
    refused(lambda: release.read_users(tmp_path), "users-00000-of-00001.parquet")
    file.write_bytes(file.read_bytes()[:-30])
    refused(lambda: release.read_users(tmp_path), "users-00000-of-00001.parquet")
    file.rename(tmp_path / f"users-00000-of-{'9' * 200}.parquet")
    refused(lambda: release.read_users(tmp_path))


SPEC = {"kind": "type mixture", "n_tokens": 4, "vocabulary": None, "privacy": PUBLISHED.to_dict(), "fit": None}
MODELS = {
    "labels that are text": {"vocabulary": "abcd"},
    "labels that are a number": {"vocabulary": 4},
    "labels by name": {"vocabulary": {"a": 1, "b": 2, "c": 3, "d": 4}},
    "labels that are numbers": {"vocabulary": [1, 2, 3, 4]},
    "a fit that is a list": {"fit": [1]},
    "a fit that is text": {"fit": "good"},
    "a fit without fields": {"fit": {}},
    "a fit of other types": {
        "fit": {"objective": "x", "steps": 1, "seconds": 1, "stopped": "", "device": "", "seed": 0, "learning_rate": 1}
    },
    "a privacy statement that is a list": {"privacy": []},
    "a budget without end": {"privacy": PUBLISHED.to_dict() | {"epsilon": 10**400}},
    "noise without end": {"privacy": PUBLISHED.to_dict() | {"sigma": {"f11": 10**400}}},
}


@pytest.mark.parametrize("case", MODELS)
def test_a_model_of_other_types_is_refused(case: str, tmp_path: Path) -> None:
    from safetensors.numpy import save_file

    file, theta = tmp_path / "m.safetensors", np.zeros((3, 2, 2, 4), dtype=np.float32)
    save_file({"theta": theta}, file, {"reidrisk": json.dumps(SPEC)})
    assert TypeMixture.load(file).n_types == 3
    save_file({"theta": theta}, file, {"reidrisk": json.dumps(SPEC | MODELS[case])})
    refused(lambda: TypeMixture.load(file), "m.safetensors")


def test_parameters_of_another_type_or_shape_are_refused(tmp_path: Path) -> None:
    from safetensors.numpy import save_file

    file = tmp_path / "m.safetensors"
    for theta in (
        np.zeros((3, 4)),
        np.zeros((1, 1, 1, 4), dtype=np.int32),
        np.full((1, 1, 1, 4), np.nan),
        np.zeros(()),
    ):
        save_file({"theta": theta}, file, {"reidrisk": json.dumps(SPEC)})
        refused(lambda: TypeMixture.load(file), "m.safetensors")
    for text in (DEEP, LONG, "[1]"):
        save_file({"theta": np.zeros((1, 1, 1, 4))}, file, {"reidrisk": text})
        refused(lambda: TypeMixture.load(file), "m.safetensors")
    for text in (DEEP, LONG, "[1]", '{"type 0": {"epoch 0": {"slot 0": {"1": 1' + "0" * 400 + "}}}}"):
        (tmp_path / "m.json").write_text(text)
        refused(lambda: release.read_parameters(tmp_path / "m.json"), "m.json")


CHECKPOINTS = {
    "one number for all": {"theta": np.float32(0.0)},
    "another shape": {"theta": np.zeros((2, 2), dtype=np.float32)},
    "whole numbers": {"theta": np.zeros((2, 2, 2, 3), dtype=np.int64)},
    "text": {"first": np.array(["a"])},
    "no number": {"second": np.full((2, 2, 2, 3), np.nan, dtype=np.float32)},
    "a square below 0": {"second": np.full((2, 2, 2, 3), -1.0, dtype=np.float32)},
    "a curve that is none": {"curve": np.zeros(3)},
    "a curve of text": {"curve": np.array([["a", "b"]])},
    "a step below 0": {"step": np.array(-4)},
    "steps in a list": {"step": np.arange(3)},
    "a time without end": {"seconds": np.array(np.inf)},
}


@pytest.mark.parametrize("case", CHECKPOINTS)
def test_a_checkpoint_of_other_types_is_refused(case: str, tmp_path: Path, monkeypatch) -> None:
    from reidrisk import TopSets
    from reidrisk.release.model import fit

    stats = release.statistics(TopSets([[[0, 1], [0, 2]]] * 500, n_tokens=3), 1.0, 1e-6, simulation=True, seed=0)
    file, kept = tmp_path / "checkpoint.npz", {}
    monkeypatch.setattr(fit, "_KEEP_EVERY", 0.0)
    monkeypatch.setattr(fit._State, "remove", lambda state: kept.update(state.kept or {}))
    arguments = {"n_types": 2, "n_epochs": 2, "steps": 5, "device": "cpu", "checkpoint": file}
    release.fit_mixture(stats, **arguments)
    np.savez(file, **kept)
    release.fit_mixture(stats, **arguments)  # as it was written, it is gone on from
    np.savez(file, **(kept | CHECKPOINTS[case]))
    refused(lambda: release.fit_mixture(stats, **arguments), "checkpoint.npz", "remove it")
