"""Single files, long tables and CSV are audited where they are as wide Parquet is, and true pairs are a relation."""

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq
import pytest

from reidrisk.audit import AuditSpec, Tables, audit_traces, run
from reidrisk.audit.stored import opening
from reidrisk.audit.stored import run as stored_run
from reidrisk.audit.stored.estimate import records_of
from reidrisk.base.errors import DataError, FormatError, ReidRiskError, TruthError
from reidrisk.io.tables.streaming import csv_rows
from reidrisk.records import Traces, Truth
from reidrisk.search.engines import DuckDBEngine

N, R, TOKENS = 400, 3, 9


@pytest.fixture(autouse=True)
def never_in_memory(monkeypatch):
    monkeypatch.setattr(stored_run.run_stored, "__defaults__", (None, 0, 1))
    monkeypatch.setattr(opening.for_engine, "__defaults__", (0,))


@pytest.fixture
def tokens():
    rng = np.random.default_rng(3)
    a = rng.integers(0, TOKENS, (N, R))
    b = np.where(rng.random((N, R)) < 0.6, a, rng.integers(0, TOKENS, (N, R)))
    a[:, 1:][rng.random((N, R - 1)) < 0.1] = -1  # everybody is seen, and so is every epoch
    return a, b


def wide(tokens, users):
    held = {f"epoch_{s}": pa.array(tokens[:, s], mask=tokens[:, s] < 0) for s in range(R)}
    return pa.table({"user": users, **held})


def long(tokens, users, epochs=("week 2", "week 9", "week 10")):
    rows, places = np.nonzero(tokens >= 0)
    return pa.table({"user": users[rows], "epoch": np.array(epochs)[places], "token": tokens[rows, places]})


def rates(a, b, **options):
    inputs = Tables(targets=str(a), queries=str(b), **options)
    spec = AuditSpec(inputs=inputs, seed=1, attacks=("hamming",), sample=300)
    found = run(spec, engine=DuckDBEngine(threads=1))
    return {risk.n_epochs: risk.rate for risk in found.risks}


def expected(tokens, truth=None):
    a, b = (Traces(some, TOKENS) for some in tokens)
    spec = AuditSpec(seed=1, attacks=("hamming",), everyone=True)
    found = audit_traces(a, b, spec, Truth(np.arange(N), "ids") if truth is None else truth)
    return pytest.approx({risk.n_epochs: risk.rate for risk in found.risks if not risk.which}, abs=1e-12)


def written(folder, table, kind):
    place = folder / f"{kind}-{len(list(folder.iterdir()))}.{'csv' if 'csv' in kind else 'parquet'}"
    pc.write_csv(table, place) if "csv" in kind else pq.write_table(table, place)
    return place


@pytest.mark.parametrize("kind", ["wide", "wide-csv", "long", "long-csv"])
def test_single_files_of_either_layout(tmp_path, tokens, kind):
    users = np.arange(N) * 3 + 1
    form = long if kind.startswith("long") else wide
    a, b = (written(tmp_path, form(some, users), kind) for some in tokens)
    before = sorted(tmp_path.iterdir())
    assert opening.for_engine((str(a), str(b)))
    assert rates(a, b) == expected(tokens)
    assert sorted(tmp_path.iterdir()) == before
    if kind != "long-csv":
        assert records_of(Tables(targets=str(a), queries=str(b)), DuckDBEngine(threads=1)) == (N, N, R)


def test_people_of_a_long_table_are_numbered_as_readers_do(tmp_path, tokens):
    order = np.random.default_rng(0).permutation(N)
    users = np.array([f"u{i}" for i in range(N)])[order]
    a, b = (written(tmp_path, long(some[order], users), "long") for some in tokens)
    for kind in ("people", "again"):
        engine = DuckDBEngine(threads=1)
        engine.people = tmp_path / kind
        spec = AuditSpec(inputs=Tables(targets=str(a), queries=str(b)), seed=1, attacks=("hamming",), epochs=(3,))
        run(spec, engine=engine)
    found = pq.read_table(tmp_path / "people" / "Hamming-3").sort_by("id")
    from reidrisk import attacks

    links = attacks.Hamming().fit(Traces(tokens[0][order], TOKENS)).link(Traces(tokens[1][order], TOKENS))
    assert found["lowest"].to_pylist() == links.target.tolist()


def test_labels_in_csv_stay_labels(tmp_path, tokens):
    users = np.arange(N)
    labels = np.array([f"{t}0" for t in range(TOKENS)] + [""])
    a, b = (
        written(tmp_path, pa.table({"user": users} | {f"epoch_{s}": labels[some[:, s]] for s in range(R)}), "csv")
        for some in tokens
    )
    (tmp_path / "words.txt").write_text("\n".join(labels[:-1]))
    assert rates(a, b, vocabulary=str(tmp_path / "words.txt")) == expected(tokens)
    assert rates(a, b, n_tokens=1 + 10 * (TOKENS - 1)) == expected(tokens)  # whole numbers else: 0, 10, 20, …


@pytest.mark.parametrize("kind", ["csv", "parquet", "folder", "named"])
def test_true_pairs_may_be_any_table(tmp_path, tokens, kind):
    one, two = (np.array([f"{side}{i}" for i in range(N)]) for side in "ab")
    a, b = (written(tmp_path, wide(some, who), "wide") for some, who in zip(tokens, (one, two), strict=True))
    names = ("crm", "partner") if kind == "named" else ("target", "query")
    pairs = pa.table(dict(zip(names, (one, two), strict=True)))[: N - 20]
    place = tmp_path / "pairs"
    if kind == "folder":
        place.mkdir()
        pq.write_table(pairs, place / "0.parquet")
    else:
        place = written(tmp_path, pairs, "csv" if kind != "parquet" else kind)
    given = f"{place}:crm=partner" if kind == "named" else str(place)
    truth = Truth(np.where(np.arange(N) < N - 20, np.arange(N), -1), "given")
    assert rates(a, b, truth=given) == expected(tokens, truth)


def test_what_is_wrong_with_files_and_pairs_is_said(tmp_path, tokens):
    users = np.array([f"u{i}" for i in range(N)])
    a, b = (written(tmp_path, wide(some, users), "wide") for some in tokens)

    def refused(error, match, one=a, two=b, **options):
        with pytest.raises(error, match=match) as told:
            rates(one, two, **options)
        assert "\n" not in str(told.value)

    for text, match in (
        ("query,target\nu1,u1\nu1,u2\n", "1 queries come twice"),
        ("query,target\n,u1\n", "1 pairs have no query"),
        ("query,target\nu1,who\n", "1 true pairs name people who are not in .*'who'"),
        ("query,other\nu1,u1\n", "no 'target'"),
    ):
        (tmp_path / "pairs.csv").write_text(text)
        refused(TruthError, match, truth=str(tmp_path / "pairs.csv"))
    (tmp_path / "pairs.csv").write_text("query,target\nu1,u1\n")
    inputs = Tables(targets=str(a), queries=str(b), truth=str(tmp_path / "pairs.csv"))
    spec = AuditSpec(inputs=inputs, seed=1, attacks=("hamming",), sample=2)
    with pytest.raises(DataError, match="none of the 2 records drawn has a counterpart"):
        run(spec, engine=DuckDBEngine(threads=1))
    rows = long(tokens[0], users)
    twice = written(tmp_path, pa.concat_tables([rows, rows[:2]]), "long")
    refused(DataError, "2 times a user has several tokens in an epoch", twice, twice)
    late = written(tmp_path, long(tokens[1], users, ("week 2", "week 9", "week 11")), "long")
    refused(DataError, "epoch week 10 of .* is not in", written(tmp_path, rows, "long"), late)
    refused(FormatError, "the long layout has", layout="long")
    short = tmp_path / "short.csv"
    short.write_text("user,epoch_0\nu1,1\nu2\n")
    refused(ReidRiskError, "short.csv: row 2 has 1 cells", short, b)
    (tmp_path / "both").mkdir()
    for name in ("0.csv", "1.parquet"):
        (tmp_path / "both" / name).write_text("user,epoch_0\n")
    refused(FormatError, "Parquet and CSV", tmp_path / "both")
    refused(FormatError, "no such file or folder", tmp_path / "nowhere" / "x", tmp_path / "both")


def test_rows_of_csv_are_counted(tmp_path):
    for text, n in (("user,epoch_0\n", 0), ("user,epoch_0\n1,2\n", 1), ("user,epoch_0\n1,2\n2,3", 2)):
        (tmp_path / "x.csv").write_text(text)
        assert csv_rows(str(tmp_path / "x.csv")) == n
