"""Audits of vectors: read from arrays and tables, every attack runs, and no plain script finds more people."""

import itertools
import json

import numpy as np
import polars as pl
import pytest

from reidrisk import assess, audit, mitigations, scenarios
from reidrisk.base.errors import DataError, ReidRiskError
from reidrisk.io import Reading, read_export
from reidrisk.records import Case, Truth, Vectors


def two(n=200, d=12, noise=0.5, uneven=0.0, seed=0):
    rng = np.random.default_rng(seed)
    people, each = rng.normal(size=(n, d)), noise * np.exp(uneven * rng.normal(size=d))
    return [(people + each * rng.normal(size=(n, d))).astype(np.float32) for _ in range(2)]


@pytest.fixture(scope="module")
def found():
    one, other = two()
    return audit.audit_case(scenarios.TwoTables(Vectors(one), Vectors(other)).case(), audit.AuditSpec(seed=1))


def test_every_default_attack_runs_and_the_result_reads_back(found):
    assert found.kind == "vectors"
    assert found.axis == "dimensions"
    ran = {"Nearest", "NearestEuclidean", "NearestWhitened", "WhitenedCosine", "GaussianBayes", "OneToOne"}
    assert {risk.attack for risk in found.risks} == ran
    assert found.n_tokens == found.n_epochs == 12
    assert found.choosy_attack == "OneToOne"
    assert found.truth_check == "passed"
    again = audit.AuditResult.from_dict(json.loads(json.dumps(found.to_dict())))
    assert again.strongest.rate == found.strongest.rate


@pytest.mark.parametrize("uneven", [0.0, 1.0])
def test_ten_lines_of_numpy_find_no_more_than_the_headline(uneven):
    one, other = two(uneven=uneven, noise=0.7)
    case = Case(Vectors(one), Vectors(other), Truth(np.arange(200), "given"))
    high = audit.audit_case(case, audit.AuditSpec(seed=1)).strongest.rate
    unit = [table / np.linalg.norm(table, axis=1, keepdims=True) for table in (one, other)]
    cosine = (unit[1] @ unit[0].T).argmax(axis=1)
    euclid = (((other[:, None] - one[None]) ** 2).sum(axis=2)).argmin(axis=1)
    values, vectors = np.linalg.eigh(np.cov(np.concatenate([one, other]).T))
    white = [table @ (vectors / np.sqrt(values)) for table in (one, other)]
    whitened = ((white[1][:, None] - white[0][None]) ** 2).sum(axis=2).argmin(axis=1)
    turned = [(table - table.mean(axis=0)) @ (vectors / np.sqrt(values)) for table in (one, other)]
    turned = [table / np.linalg.norm(table, axis=1, keepdims=True) for table in turned]
    for links in (cosine, euclid, whitened, (turned[1] @ turned[0].T).argmax(axis=1)):
        assert (links == np.arange(200)).mean() <= high + 1e-9


def test_a_truth_that_is_shifted_is_doubted():
    one, other = two(noise=0.3)
    case = Case(Vectors(one), Vectors(other), Truth(np.roll(np.arange(200), 1), "given"))
    assert audit.audit_case(case, audit.AuditSpec(seed=1, attacks=("nearest",))).truth_check == "doubt"


def test_vectors_are_read_from_arrays_lists_and_columns(tmp_path):
    one, _ = two(30, 9)
    np.save(tmp_path / "a.npy", one)
    np.savez(tmp_path / "a.npz", vectors=one, user=np.arange(30))
    pl.DataFrame({"person": np.arange(30), "face": one.tolist()}).write_parquet(tmp_path / "list.parquet")
    wide = pl.DataFrame({"person": np.arange(30)} | {f"dim_{i}": one[:, i] for i in range(9)})
    wide.write_parquet(tmp_path / "wide.parquet")
    wide.write_csv(tmp_path / "wide.csv")
    for source in ("a.npy", "a.npz", "list.parquet", "wide.parquet"):
        read = read_export(tmp_path / source)
        assert read.kind == "vectors"
        assert np.array_equal(read.records.values, one)
        assert (read.records.users is None) == (source == "a.npy")
    asked = read_export(tmp_path / "wide.csv", Reading(layout="vectors", user="person")).records
    assert np.allclose(asked.values, one)
    assert read_export(one).records.n_dimensions == 9


def test_damaged_vectors_are_refused_in_one_line(tmp_path):
    np.save(tmp_path / "flat.npy", np.zeros(5))
    np.save(tmp_path / "gap.npy", np.array([[1.0, np.nan]]))
    np.save(tmp_path / "objects.npy", np.array([[None]]), allow_pickle=True)
    (tmp_path / "cut.npy").write_bytes((tmp_path / "flat.npy").read_bytes()[:20])
    pl.DataFrame({"v": [[1.0, 2.0], [1.0]]}).write_parquet(tmp_path / "ragged.parquet")
    said = {"flat": "(records, dimensions)", "gap": "row 1 holds nan", "objects": "Python objects", "cut": "cut.npy"}
    for name, text in said.items():
        with pytest.raises(ReidRiskError) as caught:
            read_export(tmp_path / f"{name}.npy")
        assert text in str(caught.value)
        assert "\n" not in str(caught.value)
    with pytest.raises(DataError, match="row 1 has 2 numbers, row 2 has 1"):
        read_export(tmp_path / "ragged.parquet")


def test_the_command_line_audits_two_arrays(reidrisk, tmp_path):
    one, other = two(60)
    np.save(tmp_path / "a.npy", one)
    np.save(tmp_path / "b.npy", other)
    done = reidrisk("audit", tmp_path / "a.npy", tmp_path / "b.npy", "--seed", 1, "--json")
    assert done.code == 0
    assert json.loads(done.out)["kind"] == "vectors"


def test_one_table_of_one_vector_each_asks_nothing():
    with pytest.raises(DataError, match="nothing to split"):
        assess(two(60)[0], say=None)


def test_one_table_with_repeated_ids_is_split_whatever_it_is_stored_in(tmp_path):
    rng = np.random.default_rng(0)
    owner = np.repeat(np.arange(60), 4)
    values = (rng.normal(size=(60, 9))[owner] + 0.8 * rng.normal(size=(240, 9))).astype(np.float32)
    np.savez(tmp_path / "a.npz", vectors=values, user=owner)
    pl.DataFrame({"person": owner, "face": values.tolist()}).write_parquet(tmp_path / "list.parquet")
    pl.DataFrame({"person": owner} | {f"dim_{i}": values[:, i] for i in range(9)}).write_parquet(tmp_path / "w.parquet")
    told = [assess(tmp_path / name, seed=1, say=None) for name in ("a.npz", "list.parquet", "w.parquet")]
    told.append(assess(Vectors.of_several(values, owner), seed=1, say=None))
    assert len({one.strongest.rate for one in told}) == 1
    assert told[0].scenario.code == "scenario-split"
    assert {"NearestPair", "MeanPair"} < {risk.attack for risk in told[0].risks}
    assert {"split-vectors", "several-vectors"} < {note.code for note in told[0].notes}
    assert told[0].strongest.rate > 0.5


def test_vectors_with_times_are_split_by_time(tmp_path):
    owner, days = np.repeat(np.arange(30), 4), np.tile(["2024-01-09", "2024-01-01", "2024-01-05", "2024-01-03"], 30)
    values = np.random.default_rng(0).normal(size=(120, 9))
    wide = {"person": owner, "date": days} | {f"dim_{i}": values[:, i] for i in range(9)}
    pl.DataFrame(wide).write_parquet(tmp_path / "w.parquet")
    read = read_export(tmp_path / "w.parquet")
    assert (read.how["time"], read.how["kind"]) == ("date", "several-vectors")
    assert np.array_equal(read.records.take(slice(0, 1)).several.values, values[[1, 3, 2, 0]].astype(np.float32))
    result = assess(tmp_path / "w.parquet", seed=1, say=None, attacks=("nearest",))
    assert result.scenario["by"] == "time"


def test_noise_and_fewer_dimensions_lower_the_risk_and_cost_something():
    one, other = two(noise=0.3)
    case = Case(Vectors(one), Vectors(other), Truth(np.arange(200), "given"))
    changes = [mitigations.GaussianNoise(2.0), mitigations.Reduce(2)]
    tried = mitigations.tried(case, changes, trial=mitigations.Trial(seed=1))
    for change in tried.tried:
        assert change.risk.rate < tried.before.rate - 0.3
        assert change.kept.overall < 0.7
    same = mitigations.GaussianNoise(0.0).released(case, 1)
    assert mitigations.kept(case, same).overall == pytest.approx(1.0)
    twice = [mitigations.GaussianNoise(1.0).apply(case, seed).queries.values for seed in (3, 3, 4)]
    assert np.array_equal(twice[0], twice[1])
    assert not np.array_equal(twice[0], twice[2])
    assert {type(one).__name__ for one in mitigations.usual_changes(case)} == {"GaussianNoise", "Reduce"}


def test_the_rank_curve_rises_from_the_rate_and_recall_falls_with_precision(found):
    notes = {note.code: note for note in found.notes}
    curve = notes["rank-curve"]["at"]
    assert [k for k, _ in curve] == sorted(k for k, _ in curve)
    assert all(a <= b for (_, a), (_, b) in itertools.pairwise(curve))
    if curve[0][0] == 1:
        assert curve[0][1] == pytest.approx(found.strongest.rate)
    recalls = [recall for _, recall in notes["recall-at-precision"]["at"]]
    assert recalls == sorted(recalls, reverse=True)
    assert max(recalls) <= found.strongest.rate + 1e-9


def test_shares_of_few_people_are_not_told():
    one, other = two(200, noise=0.3)
    case = Case(Vectors(one), Vectors(other), Truth(np.arange(200), "given"))
    told = audit.audit_case(case, audit.AuditSpec(seed=1, attacks=("nearest",), min_group=150)).notes
    curve = [note["at"] for note in told if note.code == "rank-curve"]
    assert all(share * 200 >= 150 and (1 - share) * 200 in (0.0, 200.0) for at in curve for _, share in at)
