import json

import numpy as np
import polars as pl
import pytest


@pytest.mark.parametrize("kind", ["csv", "npz", "parquet", "sparse"])
def test_every_bound_of_a_matrix_in_one_table(reidrisk, tmp_path, kind):
    matrix = np.array([[0.5, 0.0, 0.5], [0.0, 0.5, 0.5]])  # the two users of carey's Lemma 6
    name = f"m.{'npz' if kind == 'sparse' else kind}"
    if kind == "csv":
        np.savetxt(tmp_path / name, matrix, delimiter=",")
    elif kind == "npz":
        np.savez(tmp_path / name, matrix=matrix)
    elif kind == "parquet":
        pl.DataFrame(matrix, schema=["u1", "u2", "a"]).write_parquet(tmp_path / name)
    else:
        from scipy import sparse

        sparse.save_npz(tmp_path / name, sparse.csr_matrix(matrix))
    values = json.loads(reidrisk("bounds", name, "--json").out)
    found = {bound["name"]: bound["value"] for bound in values["bounds"]}
    assert found["optimal attacker"] == 0.75
    assert found["distinct representations"] == pytest.approx(0.875)
    assert {bound["reference"].split(", ")[1] for bound in values["bounds"]} >= {
        "Corollary 1", "Lemma 3", "Lemma 4", "Lemma 7", "Lemma 9"
    }  # fmt: skip
    assert [found["name"] for found in values["tightest"]] == ["optimal attacker", "distinct representations"]
    assert {bound["says_something"] for bound in values["bounds"]} == {True, False}
    assert reidrisk("bounds", name).code == 0
