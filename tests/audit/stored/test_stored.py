"""Tables that stay where they are stored are audited as tables in memory are: the same rows, notes and refusals."""

from importlib.util import find_spec

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from reidrisk.audit import AuditSpec, Tables, audit_traces, run
from reidrisk.audit.stored import run as stored_run
from reidrisk.base.errors import DataError, FormatError, OptionError
from reidrisk.records import Traces, Truth
from reidrisk.search.engines import DuckDBEngine

N, R, TOKENS = 900, 3, 12


@pytest.fixture
def tokens():
    rng = np.random.default_rng(5)
    a = rng.integers(0, TOKENS, (N, R))
    b = np.where(rng.random((N, R)) < 0.6, a, rng.integers(0, TOKENS, (N, R)))
    return a, b


def write(folder, tokens, users=None, files=3, labels=None):
    folder.mkdir()
    for i, rows in enumerate(np.array_split(np.arange(len(tokens)), files)):
        columns = {} if users is None else {"user": users[rows]}
        for s in range(tokens.shape[1]):
            column = tokens[rows, s]
            columns[f"epoch_{s}"] = column if labels is None else [None if t < 0 else labels[t] for t in column]
        pq.write_table(pa.table(columns), folder / f"part-{i}.parquet")
    return str(folder)


@pytest.fixture
def folders(tmp_path, tokens):
    users, order = np.arange(N) * 7, np.random.default_rng(1).permutation(N)
    a, b = write(tmp_path / "a", tokens[0], users), write(tmp_path / "b", tokens[1][order], users[order])
    return a, b, order


def engine(tmp_path):
    (tmp_path / "spill").mkdir(exist_ok=True)
    return DuckDBEngine(threads=1, spill=tmp_path / "spill")


def audited(tmp_path, a, b, monkeypatch=None, **options):
    inputs = {name: options.pop(name) for name in ("truth", "n_tokens", "vocabulary") if name in options}
    spec = AuditSpec(inputs=Tables(targets=a, queries=b, **inputs), seed=1, **options)
    if monkeypatch is not None:
        monkeypatch.setattr(stored_run.run_stored, "__defaults__", (None, 0, 1))
    return run(spec, engine=engine(tmp_path))


def test_small_tables_are_audited_as_tables_in_memory(tmp_path, folders, tokens):
    a, b, order = folders
    found = audited(tmp_path, a, b)
    spec = AuditSpec(inputs=Tables(targets=a, queries=b), seed=1)
    here = audit_traces(Traces(tokens[0], TOKENS), Traces(tokens[1][order], TOKENS), spec, Truth(order, "ids"))
    assert [r.to_dict() for r in found.risks] == [r.to_dict() for r in here.risks]
    assert found.exposure == here.exposure
    assert not list((tmp_path / "spill").iterdir())


def test_large_tables_give_the_same_rows_by_joins_and_shards(tmp_path, folders, tokens, monkeypatch):
    a, b, order = folders
    found = audited(tmp_path, a, b, monkeypatch, sample=300)
    targets, queries = Traces(tokens[0], TOKENS), Traces(tokens[1][order], TOKENS)
    spec = AuditSpec(seed=1, sample=300)
    here = audit_traces(targets, queries, spec, Truth(order, "ids"))
    everyone = audit_traces(
        targets, queries, AuditSpec(seed=1, everyone=True, attacks=("hamming", "weighted-hamming")), Truth(order, "ids")
    )
    whole = {(r.attack, r.n_epochs): r for r in everyone.risks}
    part = {(r.attack, r.n_epochs): r for r in here.risks}
    assert {r.attack for r in found.risks} == {r.attack for r in here.risks}
    for risk in found.risks:
        if risk.attack in ("Hamming", "WeightedHamming"):
            other = whole[risk.attack, risk.n_epochs]
            assert risk.everyone
            assert risk.rate == pytest.approx(other.rate, abs=1e-12)
            assert risk.mean_ties == pytest.approx(other.mean_ties, abs=1e-12)
        else:
            assert risk.rate == part[risk.attack, risk.n_epochs].rate
            assert (risk.low, risk.high) == (
                part[risk.attack, risk.n_epochs].low,
                part[risk.attack, risk.n_epochs].high,
            )
    gaps = {(d.attack, d.n_epochs): d.difference for d in here.differences}
    for one in found.differences:
        assert one.difference == pytest.approx(gaps[one.attack, one.n_epochs], abs=1e-12)
    codes = {note.code for note in found.notes}
    assert {"stored-tables", "stored-left-out"} <= codes
    assert not list((tmp_path / "spill").iterdir())
    assert type(found).from_dict(found.to_dict()) == found


def test_labels_gaps_and_true_pairs(tmp_path, tokens, monkeypatch):
    labels = [f"topic {t:02}" for t in range(TOKENS)]
    a, b = (np.where(np.random.default_rng(s).random((N, R)) < 0.1, -1, t) for s, t in enumerate(tokens))
    one = write(tmp_path / "a", a, np.array([f"a{i}" for i in range(N)]), labels=labels)
    two = write(tmp_path / "b", b, np.array([f"b{i}" for i in range(N)]), labels=labels)
    pairs = tmp_path / "pairs.csv"
    pairs.write_text("query,target\n" + "".join(f"b{i},a{i}\n" for i in range(N - 30)))
    found = audited(tmp_path, one, two, monkeypatch, truth=str(pairs), attacks=("hamming",))
    queries = Traces(b, TOKENS)
    truth = Truth(np.where(np.arange(N) < N - 30, np.arange(N), -1), "given")
    here = audit_traces(Traces(a, TOKENS), queries, AuditSpec(seed=1, everyone=True, attacks=("hamming",)), truth)
    rates = {risk.n_epochs: risk.rate for risk in here.risks if not risk.which}
    assert {risk.n_epochs: pytest.approx(risk.rate, abs=1e-12) for risk in found.risks} == rates
    assert {note.code: note["n"] for note in found.notes if note.code == "without-pair"} == {"without-pair": 30}


def test_what_is_wrong_is_named_and_refused(tmp_path, folders, tokens):
    a, b, _ = folders
    twice = write(tmp_path / "twice", tokens[0], np.arange(N) // 2)
    with pytest.raises(DataError, match="450 rows repeat a user"):
        audited(tmp_path, twice, b)
    fewer = write(tmp_path / "fewer", tokens[1][:50], np.arange(50) * 7)
    with pytest.raises(DataError, match="--allow-unmatched"):
        audited(tmp_path, a, fewer)
    with pytest.raises(DataError, match="outside the vocabulary of 5"):
        audited(tmp_path, a, b, n_tokens=5)
    other = write(tmp_path / "other", tokens[1], np.array([f"x{i}" for i in range(N)]))
    with pytest.raises(DataError, match="nobody of"):
        audited(tmp_path, a, other)
    (tmp_path / "empty").mkdir()
    with pytest.raises(FormatError, match="no Parquet file"):
        audited(tmp_path, a, str(tmp_path / "empty"))
    part = tmp_path / "b" / "part-1.parquet"
    part.write_bytes(part.read_bytes()[:-100])
    with pytest.raises(FormatError, match=r"part-1.parquet: this is no whole Parquet file"):
        audited(tmp_path, a, b)
    assert not list((tmp_path / "spill").iterdir())


def test_what_needs_tables_in_memory_is_refused(tmp_path, folders, monkeypatch):
    with pytest.raises(OptionError, match="--what-if"):
        audited(tmp_path, *folders[:2], monkeypatch, what_if=True)


def test_the_command_line_audits_folders(tmp_path, folders, capsys):
    from reidrisk.cli import main

    def code(*arguments):
        with pytest.raises(SystemExit) as left:
            main(["audit", *folders[:2], *arguments])
        return left.value.code

    (tmp_path / "spill").mkdir()
    out = tmp_path / "result.json"
    options = ["--engine", "duckdb", "--memory", "500MB", "--spill", str(tmp_path / "spill"), "--attack", "hamming"]
    assert code(*options, "--result", str(out), "--seed", "1") == 0
    assert out.exists()
    assert not list((tmp_path / "spill").iterdir())
    assert code("--master", "spark://x:1") == 2
    capsys.readouterr()
    assert code("--engine", "spark", "--master", "spark://127.0.0.1:9") == 2
    told = capsys.readouterr().err.strip()
    assert ("does not answer" if find_spec("pyspark") else "needs 'pyspark'") in told
    assert "\n" not in told


def test_a_killed_audit_goes_on_from_its_parts(tmp_path, folders, monkeypatch):
    from reidrisk.search.engines.duckdb import DuckDBSession

    monkeypatch.setattr(stored_run.run_stored, "__defaults__", (None, 0, 1))
    inputs = Tables(targets=folders[0], queries=folders[1])
    spec = AuditSpec(inputs=inputs, seed=1, attacks=("hamming", "bm25"), sample=300, epochs=(1, 3))
    whole = run(spec, engine=engine(tmp_path))
    written, most = [], [4]
    write = DuckDBSession.write

    def stopping(self, statement, folder):
        written.append(folder)
        if len(written) > most[0]:
            raise KeyboardInterrupt
        write(self, statement, folder)

    monkeypatch.setattr(DuckDBSession, "write", stopping)
    resuming = DuckDBEngine(threads=1, spill=tmp_path / "spill", resume=tmp_path / "parts")
    with pytest.raises(KeyboardInterrupt):
        run(spec, engine=resuming)
    assert not list((tmp_path / "spill").iterdir())
    first = len(written)
    damaged = sorted((tmp_path / "parts" / "queries").glob("*.parquet"))[0]
    most[0] = 1_000
    found = run(spec, engine=resuming)
    assert found.to_dict() == whole.to_dict()
    assert len(written) - first == 2, "finished parts were not done again"
    again = len(written)
    assert run(spec, engine=resuming).to_dict() == whole.to_dict()
    assert len(written) == again, "everything was finished"
    damaged.write_bytes(damaged.read_bytes()[:-8] + b"12345678")
    assert run(spec, engine=resuming).to_dict() == whole.to_dict()
    assert len(written) > again, "a damaged part was done again"
    with pytest.raises(OptionError, match="another job"):
        run(spec.model_copy(update={"seed": 2}), engine=resuming)


def test_assess_takes_folders_and_an_engine(tmp_path, folders):
    import reidrisk

    found = reidrisk.assess(*folders[:2], seed=1, attacks=("hamming",), engine=engine(tmp_path), say=None)
    assert found.to_dict()["risks"] == audited(tmp_path, *folders[:2], attacks=("hamming",)).to_dict()["risks"]


def test_what_was_found_of_each_person_is_written_if_asked(tmp_path, folders, tokens, monkeypatch):
    from reidrisk import attacks

    monkeypatch.setattr(stored_run.run_stored, "__defaults__", (None, 0, 1))
    where = engine(tmp_path)
    where.people = tmp_path / "people"
    a, b, order = folders
    run(AuditSpec(inputs=Tables(targets=a, queries=b), seed=1, attacks=("hamming",), epochs=(3,)), engine=where)
    found = pq.read_table(tmp_path / "people" / "Hamming-3").sort_by("id")
    links = attacks.Hamming().fit(Traces(tokens[0], TOKENS)).link(Traces(tokens[1][order], TOKENS))
    for column, field in (("score", "score"), ("ties", "n_ties"), ("lowest", "target")):
        assert found[column].to_pylist() == getattr(links, field).tolist()
    with pytest.raises(OptionError, match="not empty"):
        run(AuditSpec(inputs=Tables(targets=a, queries=b), seed=1, attacks=("hamming",)), engine=where)


def test_tables_of_a_database_are_audited_where_they_are(tmp_path, folders):
    import duckdb

    with duckdb.connect(tmp_path / "some.duckdb") as database:
        for name, folder in zip("ab", folders[:2], strict=True):
            database.execute(f"CREATE TABLE {name} AS SELECT * FROM read_parquet('{folder}/*.parquet')")
    where = DuckDBEngine(threads=1, database=tmp_path / "some.duckdb")
    spec = AuditSpec(inputs=Tables(targets="table:stored.a", queries="table:stored.b"), seed=1, attacks=("hamming",))
    rates = {risk.n_epochs: risk.rate for risk in run(spec, engine=where).risks if not risk.which}
    files = {r.n_epochs: r.rate for r in audited(tmp_path, *folders[:2], attacks=("hamming",)).risks if not r.which}
    assert rates == pytest.approx(files, abs=1e-12)


def test_bounds_and_exposure_are_counted_where_the_tables_are(tmp_path, folders, tokens, monkeypatch):
    a, b, order = folders
    asked = {"attacks": ("weighted-hamming",), "system": "topics", "top_k": 3, "n_tokens": TOKENS}
    found = audited(tmp_path, a, b, monkeypatch, sample=300, **asked)
    asked.pop("n_tokens")
    targets, queries = Traces(tokens[0], TOKENS), Traces(tokens[1][order], TOKENS)
    here = audit_traces(targets, queries, AuditSpec(seed=1, everyone=True, **asked), Truth(order, "ids"))
    counted = {(bound.name, bound.n_epochs) for bound in found.bounds}
    assert counted == {("distinct representations", r) for r in (1, 2, 3)} | {("partial information", 1)}
    alike = {(bound.name, bound.n_epochs): bound.to_dict() for bound in here.bounds}
    assert {key: bound for key, bound in alike.items() if key in counted} == {
        (bound.name, bound.n_epochs): bound.to_dict() for bound in found.bounds
    }
    assert found.strongest.everyone
    assert (found.exposure.n, found.exposure.histogram) == (here.exposure.n, here.exposure.histogram)
    assert found.exposure.above == here.exposure.above
    assert type(found).from_dict(found.to_dict()) == found
