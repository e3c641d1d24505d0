"""Small valid files of every format that is read, made by the package itself where it writes that format."""

from __future__ import annotations

import contextlib
import gzip
import io as memory
import json
import os
import zipfile
from pathlib import Path
from unittest import mock

import numpy as np
import polars as pl
import pyreadr
from scipy import sparse

from reidrisk import Bags, TopSets, Traces, Vocabulary, cohorts, io, release
from reidrisk.cli import main
from reidrisk.io.tfrecord.example import make_example
from reidrisk.release.model.fit import fit_mixture

__all__ = ["make_corpus"]

WORDS = ("news", "sports", "music", "cars", "food", "law")
PEOPLE = ("ann", "bob", "cat", "dan", "eve", "fay", "gus", "hal")
TAXONOMY = {1: "/News", 2: "/News/Weather", 3: "/Sports", 4: "/Sports/Golf", 5: "/Law"}


def make_corpus(folder: Path) -> None:
    """Write every seed into a folder; the doors name them by their path within it."""
    folder.mkdir(parents=True, exist_ok=True)
    before = Path.cwd()
    os.chdir(folder)
    try:
        _traces()
        _sets_and_bags()
        _logs()
        _channels()
        _topics()
        _cohorts()
        _bandits()
        _service()
        _networks()
        _release()
        _studies()
        _results()
    finally:
        os.chdir(before)


def run(*arguments: object) -> None:
    """Run a command that has to succeed."""
    said = memory.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said), contextlib.suppress(SystemExit):
        main([str(argument) for argument in arguments])


def _text(name: str, text: str) -> None:
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    Path(name).write_text(text, encoding="utf-8")


def _zip(name: str, members: dict[str, str]) -> None:
    with zipfile.ZipFile(name, "w") as packed:
        for member, text in members.items():
            packed.writestr(zipfile.ZipInfo(member), text)  # without the time of day


def _traces() -> None:
    rng = np.random.default_rng(1)
    words = Vocabulary(WORDS)
    for name in ("a", "b"):
        tokens = rng.integers(-1, len(WORDS), size=(len(PEOPLE), 3))
        tokens[:, 0] = np.arange(len(PEOPLE)) % len(WORDS)
        labelled = Traces(tokens, len(WORDS), list(PEOPLE), words)
        numbered = Traces(tokens, len(WORDS), np.arange(len(PEOPLE)))
        for ending in ("csv", "csv.gz", "parquet", "arrow", "npz"):
            io.write_traces(labelled, f"{name}.{ending}")
            io.write_traces(numbered, f"{name}-numbers.{ending}")
        io.write_traces(labelled, f"{name}-long.csv", layout="long")
        io.write_traces(labelled, f"{name}-long.parquet", layout="long")
    days = [f"{person},2024-0{1 + i % 9}-{10 + i},{word}" for i, person in enumerate(PEOPLE) for word in WORDS[:1]]
    _text("dated.csv", "user,epoch,token\n" + "\n".join(days) + "\n")
    _text("truth.csv", "query,target\n" + "".join(f"{person},{person}\n" for person in PEOPLE[:-1]))
    pl.DataFrame({"query": PEOPLE, "target": PEOPLE}).write_parquet("truth.parquet")
    _text("words.txt", "\n".join(WORDS) + "\n")
    _text("words.json", json.dumps(WORDS))


def _sets_and_bags() -> None:
    rng = np.random.default_rng(2)
    tokens = np.argsort(rng.random((40, 2, len(WORDS))), axis=2)[:, :, :2].copy()
    tokens[0, 0, 1] = -1
    sets = TopSets(tokens, len(WORDS), vocabulary=Vocabulary(WORDS))
    for ending in ("parquet", "arrow", "npz"):
        io.write_top_sets(sets, f"sets.{ending}")
    io.write_top_sets(sets, "sets-long.csv")
    bags = Bags(sparse.csr_array(rng.integers(0, 3, size=(8, len(WORDS)))), list(PEOPLE), Vocabulary(WORDS))
    for ending in ("csv", "parquet", "arrow"):
        io.write_bags(bags, f"bags.{ending}")
    io.write_tfrecords("sets.tfrecord", sets)
    shown = [Traces(sets.tokens[1:, :, slot], len(WORDS)) for slot in (0, 1)]
    Path("one.example").write_bytes(make_example({"user_id": [b"ann"], "epoch_0_topics": [1, 2]}))
    io.write_tfrecords("clients.tfrecord", TopSets(sets.tokens[1:], len(WORDS)), *shown)
    Path("sets.tfrecord.gz").write_bytes(gzip.compress(Path("sets.tfrecord").read_bytes(), mtime=0))


def _logs() -> None:
    rows = [(person, i, WORDS[(i * i + j) % 6]) for j, person in enumerate(PEOPLE) for i in range(8)]
    log = pl.DataFrame(rows, schema=["who", "day", "what"], orient="row")
    log.write_csv("log.csv")
    log.write_csv("log.tsv", separator="\t")
    log.write_parquet("log.parquet")
    np.savez(
        "log.npz",
        **{name: log[name].to_numpy().astype(kind) for name, kind in (("who", "U"), ("day", int), ("what", "U"))},
    )
    columns = 'user = "who"\nitems = ["what"]\ntime = "day"\n'
    kinds = {"text": "csv", "tabs": "tsv", "parquet": "parquet", "arrays": "npz"}
    _text(
        "logs.toml",
        "".join(
            f'[data.{name}]\nfiles = {{ "log.{kind}" = "" }}\nformat = "{kind}"\n{columns}'
            for name, kind in kinds.items()
        ),
    )


def _channels() -> None:
    matrix = np.array([[0.5, 0.25, 0.25], [0.0, 0.5, 0.5], [1.0, 0.0, 0.0]])
    _text("matrix.csv", "user,x,y,z\n" + "".join(f"p{i},{a},{b},{c}\n" for i, (a, b, c) in enumerate(matrix)))
    np.savez("matrix.npz", matrix=matrix)
    sparse.save_npz("sparse.npz", sparse.csr_array(matrix))
    sparse.save_npz("coo.npz", sparse.coo_array(matrix))
    frame = pl.DataFrame({"user": ["p0", "p1", "p2"]} | {name: matrix[:, i] for i, name in enumerate("xyz")})
    frame.write_parquet("matrix.parquet")
    frame.write_ipc("matrix.arrow")


def _topics() -> None:
    rows = [
        f"{PEOPLE[user]},2024-05-{day + 1:02d} 12:00:00,www.t{user % 5 + 1}.com"
        for day in range(16)
        for user in (0, 1, 2)
    ]
    _text("visits.csv", "\n".join(["user,timestamp,host", *rows]) + "\n")
    pl.read_csv("visits.csv", try_parse_dates=True).write_parquet("visits.parquet")
    _text(
        "taxonomy.md", "| ID | Topic |\n| -- | -- |\n" + "".join(f"| {i} | {name} |\n" for i, name in TAXONOMY.items())
    )
    _text("taxonomy.tsv", "ID\tTopic\n" + "".join(f"{i}\t{name}\n" for i, name in TAXONOMY.items()))
    _text("taxonomy.json", json.dumps([{"topic_id": i, "topic_label": name} for i, name in TAXONOMY.items()]))
    _text("override_list.tsv", "domain\ttopics\n" + "".join(f"t{i} com\t{i}\n" for i in TAXONOMY) + "none com\t\n")
    _text("buckets.tsv", "Top-Level Topics\tUtility Buckets\n/News\tStandard\n/Sports\tHigh\n/Law\tStandard\n")
    Path("hosts").mkdir()
    _zip("hosts/model.tflite", {"labelmap.txt": "-2\n1\n3\n", "vocab.txt": "[PAD]\n[UNK]\n[CLS]\n[SEP]\nrain\n"})
    limits = {"min_none_weight": "3f4ccccd", "min_category_weight": "3c23d70a"}
    limits |= {"min_normalized_weight_within_top_n": "3e800000"}
    _text("hosts/config.json", json.dumps({"max_categories": 5, **limits}))
    _text("rates.csv", "0.5,0,1\n0,2,0.25\n")
    Path("rates.csv.gz").write_bytes(gzip.compress(Path("rates.csv").read_bytes(), mtime=0))


def _cohorts() -> None:
    rows = [f"u{u},site-{u % 4}-{i}.org" for u in range(12) for i in range(8)]
    rows += [f"u{u},clinic.org" for u in range(1, 12, 4)]
    _text("hosts.csv", "user,host\n" + "\n".join(rows) + "\n")
    _text("weeks.csv", "user,host,week\n" + "".join(f"{row},{week}\n" for week in (0, 1) for row in rows))
    _text("cohorts.csv", "user,cohort\n" + "".join(f"u{u},{u % 4}\n" for u in range(12)))
    _text("categories.csv", "host,category\nclinic.org,health\nsite-0-1.org,politics\n")
    cohorts.SortingLSH([49, 49]).write("clusters")


def _bandits() -> None:
    rows = [
        f"p{u},{i * (50 + 7 * u)},{('rest', 'walk', 'run')[(i * (1 + u % 2) + u) % 3]}"
        for u in range(6)
        for i in range(9)
    ]
    _text("log.csv", "user,timestamp,state\n" + "\n".join(rows) + "\n")
    _text("states.txt", "rest\nwalk\nrun\n")
    some = np.random.default_rng(0).dirichlet(np.ones(3), size=(6, 3))
    np.savez("matrices.npz", records=some, profiles=some[:, :, 0])
    sports = ("run", "bike", "row")
    workouts = [
        {"userId": u, "sport": sports[(u + i * (1 + u % 2)) % 3], "timestamp": [1000 * i, 1000 * i + 300 + u]}
        for u in range(5)
        for i in range(5)
    ]
    _text("workouts.json", "\n".join(map(json.dumps, workouts)) + "\n")
    Path("workouts.json.gz").write_bytes(gzip.compress(Path("workouts.json").read_bytes(), mtime=0))
    for home in range(2):
        rooms, doing = ("Door", "Hall", "Kitchen", f"Room{home}"), ("Cook", "Eat")
        lines = [f"2012-07-20 10:0{i}:{10 + home} {rooms[i % 4]} ON {doing[i % 2]}" for i in range(9)]
        _text(f"homes/h{home}.ann.txt", "\n".join(lines) + "\n")
    head = ",".join(["Id", "ActivityHour", *(f"Intensity{minute:02d}" for minute in range(60))])
    minutes = [
        f"{u},4/13/2016 {h}:00:00 AM," + ",".join(str((u + h + m // 7) % 4) for m in range(60))
        for u in (1, 2, 3)
        for h in range(1, 5)
    ]
    _text("fitbit/minuteIntensitiesWide_merged.csv", "\n".join([head, *minutes]) + "\n")
    clock = [f"{hour or 12}:00:00 {half}" for half in ("AM", "PM") for hour in range(12)]
    hours = [f"{u},4/13/2016 {time},20,0.{u}" for u in (1, 2, 3) for time in clock]
    _text(
        "fitbit/hourlyIntensities_merged.csv",
        "\n".join(["Id,ActivityHour,TotalIntensity,AverageIntensity", *hours]) + "\n",
    )


def _service() -> None:
    from reidrisk.bandits.adversary.repository import Repository
    from reidrisk.bandits.service.storage.database import Database

    Repository({"ann": {0: 0.5, 3: 0.25}, "bob": {1: 0.75}}).write(Path("repository.json"))
    Database("sqlite:///service.db").close()
    _text("administrator", "a" * 43 + "\n")
    Path("administrator").chmod(0o600)
    _text("tokens.txt", f"rr_{'0' * 16}_{'b' * 43}\n")
    some = np.random.default_rng(0).dirichlet(np.ones(3), size=(6, 3))
    np.savez("members.npz", records=some, profiles=some[:, :, 0], users=np.array([f"{i:016x}" for i in range(6)]))


def _networks() -> None:
    from reidrisk.attacks import Neural
    from reidrisk.sequence import Schedule, Sizes, train
    from reidrisk.sequence.pairs import PairSchedule, PairSizes

    seen = np.random.default_rng(0).integers(6, size=(60, 2))
    sizes, short = Sizes(width=8, heads=1, mlp=8, encoder_layers=1, decoder_layers=1), Schedule(passes=1, batch=16)
    train(None, seen, 6, sizes, short).save("sequence.pt")
    pairs = PairSizes(tower=8, width=8, hidden=4), PairSchedule(steps=4, batch=16, look_every=2)
    people = Traces(seen[:40], 6)
    Neural(sizes, *pairs, short).train(people, people).save("neural.pt")


def _release() -> None:
    simulated = ("--epsilon", 2, "--delta", 1e-6, "--simulation", "--seed", 1)
    rng = np.random.default_rng(3)
    tokens = np.argsort(rng.random((3000, 2, 4)), axis=2)[:, :, :2]
    io.write_top_sets(TopSets(tokens, 4, vocabulary=Vocabulary(WORDS[:4])), "many.parquet")
    run("release", "measure", "many.parquet", "--top-k", 2, *simulated, "--out", "stats")
    Path("many.parquet").unlink()
    io.write_top_sets(TopSets(tokens[:40], 4, vocabulary=Vocabulary(WORDS[:4])), "people.parquet")
    run("release", "fit", "stats", "--out", "model.safetensors", "--types", 2, "--epochs", 2, "--steps", 10)
    run("release", "fit", "stats", "--out", "model.json", "--types", 2, "--epochs", 2, "--steps", 10)
    run("release", "sample", "model.safetensors", "--users", 20, "--out", "users", "--seed", 1)

    def stop(stage: str, share: float) -> None:
        if share > 0.4:
            raise KeyboardInterrupt

    # What a fit has kept when it is interrupted is its checkpoint; this one is interrupted at its second look.
    known, fit = release.read_statistics("stats"), "reidrisk.release.model.fit"
    with mock.patch(f"{fit}._KEEP_EVERY", 0.0), mock.patch(f"{fit}._EVERY", 4), contextlib.suppress(KeyboardInterrupt):
        fit_mixture(known, 2, 2, 0, steps=10, device="cpu", checkpoint="fit.ckpt", progress=stop)


def _studies() -> None:
    _text(
        "lastfm.dat", "userID\tartistID\tweight\n" + "".join(f"{u}\t{u + i}\t9\n" for u in range(4) for i in range(3))
    )
    web = 'A,1000,1,"one","/one"\nA,1001,1,"two","/two"\nC,"1",1\nV,1000,1\nC,"2",2\nV,1001,1\n'
    Path("msweb.data.gz").write_bytes(gzip.compress(web.encode("latin-1"), mtime=0))
    when = [f"2024-05-0{1 + i} 12:00:00" for i in range(4)]
    panel = {
        "panelist_id": ["p1", "p1", "p2", "p2"],
        "url": [f"https://www.t{i + 1}.com/x" for i in range(4)],
        "timestamp": when,
    }
    pyreadr.write_rds("panel.rds", pl.DataFrame(panel).with_columns(pl.col("timestamp").str.to_datetime()))
    _zip("msnbc.zip", {"msnbc.seq": "% Different categories\n\nnews health sports\n\n% Sequences:\n\n1 1 2\n3\n2 3 \n"})


def _results() -> None:
    run("audit", "a.csv", "b.csv", "--truth", "truth.csv", "--seed", 1, "--result", "result.json", "--max-risk", 0.5)
    Path("own.key").write_bytes(bytes(range(32)))
    run("audit", "a.csv", "b.csv", "--seed", 1, "--fingerprint-key", "own.key", "--result", "keyed.json")
    kept = ("--keep-per-person", "kept.json", "--attack", "hamming", "--no-what-if")
    run("audit", "a.csv", "b.csv", "--truth", "truth.csv", "--seed", 1, "--result", "kept-result.json", *kept)
    for folder in ("stored-a", "stored-b"):
        Path(folder).mkdir()
        Path(folder, "part.parquet").write_bytes(Path("a.parquet").read_bytes())
    _text("parents.csv", "item,parent\n" + "".join(f"{word},kind {i % 2}\n" for i, word in enumerate(WORDS)))
    result = json.loads(Path("result.json").read_text(encoding="utf-8"))
    _text("spec.json", json.dumps(result["spec"]))
