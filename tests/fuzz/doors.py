"""Every command and every reader, with the files that each of them opens: what the fuzzer calls."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

__all__ = ["DOORS", "Door"]


@dataclass(frozen=True)
class Door:
    """One way into the package."""

    name: str
    files: tuple[str, ...]
    """Seeds that it reads, by their path in the corpus (other words do not count); a folder stands for its files."""
    words: tuple[str, ...] = ()
    """Words of the command line, or none where a function is called."""
    call: Callable[[], Any] | None = None
    share: float = 2.0
    """How often it is tried, compared with the others: slow ones less often."""


_PLAY = "--runs 2 --steps 4 --releases 1 --amounts 0,1e-4 --strategy own --strategy average --quick --seed 1"
_LISTS = "--override-list override_list.tsv --observers t1.com --observers b.com --out seen --seed 1 --top-k 2"
_NOISE = "--epsilon 1 --delta 1e-6 --simulation --seed 1"
_GROUPS = "cohorts audit cohorts.csv hosts.csv categories.csv"
_REPORT = 0.02  # a page with charts takes a second
_LOGS = ("log.csv", "log.tsv", "log.parquet", "log.npz")
_BESIDE = {"logs.toml": _LOGS, "--spec": ("a.csv", "b.csv", "truth.csv"), "model.json": ("model.json.statement.json",)}
_BESIDE |= {"sqlite:///service.db": ("service.db",)}
"""Files that a command reads without being told."""

_COMMANDS = {
    "audit a.csv b.csv --seed 1": 2,
    "audit a.csv.gz b.csv --seed 1 --epochs 1,3 --attack hamming --json": 2,
    "audit a-numbers.csv b-numbers.csv --seed 1 --n-tokens 6 --top-k 2 --attack hamming": 3,
    "audit a.parquet b.arrow --seed 1 --attack hamming --json": 3,
    "audit a.npz b.npz --seed 1 --allow-unmatched --attack weighted-hamming": 2,
    "audit a-long.csv b-long.csv --seed 1 --vocabulary words.txt --attack hamming": 3,
    "audit a-long.parquet b.csv --seed 1 --truth truth.csv --attack hamming": 3,
    "audit dated.csv dated.csv --seed 1 --attack hamming --truth truth.parquet": 2,
    "audit a.csv b.csv --system topics --n-tokens 6 --noise 0.1 --max-risk 0.5 --sample 4 --seed 1": 1,
    "audit a.csv b.csv --seed 1 --attack hamming --out r.html --result r.json": _REPORT,
    "audit a.csv b.csv --seed 1 --attack hamming --taxonomy parents.csv --no-what-if": 1,
    "audit stored-a stored-b --engine duckdb --attack hamming --seed 1 --no-what-if": 0.5,
    "audit stored-a stored-b --engine duckdb --truth truth.csv --attack hamming --seed 1 --no-what-if": 0.5,
    "audit --spec spec.json --json": 2,
    "audit --spec result.json": 1,
    "gate result.json --max-risk 0.5": 8,
    "gate result.json --max-risk 0.01 --json": 2,
    "gate keyed.json --max-risk 0.5 --inputs a.csv b.csv --fingerprint-key own.key": 2,
    "compare result.json keyed.json": 3,
    "compare kept-result.json kept-result.json --per-person kept.json kept.json": 2,
    "bench --data logs.toml --attack overlap --setting later --setting knows-2": 2,
    "bench --data logs.toml --only text --attack tf-idf --setting halves --setting apart --seed 1 --json": 2,
    "bounds matrix.csv": 3,
    "bounds matrix.npz --json": 3,
    "bounds sparse.npz": 4,
    "bounds coo.npz --json": 2,
    "bounds matrix.parquet --json": 2,
    "bounds matrix.arrow": 2,
    "convert a.csv --out x.parquet": 4,
    "convert a.parquet --out x.csv --layout long": 3,
    "convert a.arrow --out x.npz": 3,
    "convert a.npz --out x.arrow": 3,
    "convert a-numbers.parquet --out x.csv.gz --n-tokens 6": 2,
    "convert sets.parquet --out x.csv": 3,
    "convert sets.arrow --out x.npz": 2,
    "convert sets.npz --out x.parquet": 2,
    "convert sets-long.csv --out x.arrow --vocabulary words.json": 2,
    "convert bags.csv --out x.parquet": 2,
    "convert bags.parquet --out x.csv --vocabulary words.txt": 2,
    "convert sets.tfrecord --out x.parquet": 3,
    "convert sets.tfrecord.gz --out x.parquet --n-tokens 9": 2,
    "convert clients.tfrecord --out x.csv": 2,
    f"simulate topics --histories visits.csv --taxonomy taxonomy.md {_LISTS}": 1,
    f"simulate topics --histories visits.parquet --taxonomy taxonomy.tsv --presence visits --json {_LISTS}": 1,
    "simulate topics --histories visits.csv --taxonomy taxonomy.json --utility-buckets buckets.tsv --sort "
    f"--by-the-specification --invalid-hosts count {_LISTS}": 0.5,
    f"simulate topics --histories visits.csv --taxonomy taxonomy.md --model hosts {_LISTS}": 0.5,
    "cohorts assign hosts.csv --min-size 2 --out c.csv": 2,
    "cohorts assign hosts.csv --table clusters --out c.parquet --registrable --json": 1,
    "cohorts assign weeks.csv --min-size 2 --week-column week --out w.csv --save-table t": 1,
    _GROUPS: 3,
    f"{_GROUPS} --gate --blocklist l.json --json": 2,
    f"{_GROUPS} --out p.html": _REPORT,
    f"{_GROUPS} --private --n-cohorts 4 --public-rule published {_NOISE}": 0.5,
    f"release measure sets.parquet --top-k 2 --out s {_NOISE}": 2,
    f"release measure sets-long.csv --top-k 2 --vocabulary words.txt --out s --json {_NOISE}": 1,
    "release fit stats --types 2 --epochs 2 --steps 4 --out m.safetensors --device cpu": 1,
    "release fit stats --types 2 --epochs 2 --steps 10 --out m.json --checkpoint fit.ckpt --device cpu": 1,
    "release sample model.safetensors --users 20 --out u --seed 1": 3,
    "release sample model.json --users 20 --out u --seed 1 --json": 3,
    "release validate stats model.safetensors --users users --canary 0 --out p.html --seed 1": 0.1,
    "release validate stats model.json --canary 50 --out p.html --real people.parquet --internal i.html --trials 1 "
    "--queries 4 --no-refit --seed 1": _REPORT,
    f"bandits tradeoff log.csv {_PLAY}": 2,
    f"bandits tradeoff log.csv --states states.txt --max-gap 900 --json {_PLAY}": 1,
    f"bandits tradeoff log.csv --out p.html {_PLAY}": _REPORT,
    f"bandits tradeoff matrices.npz --format matrices --json {_PLAY}": 1,
    "bandits serve --database sqlite:///service.db --host 192.0.2.1": 0.2,
    "bandits backup copy.db --database sqlite:///service.db": 1,
    "bandits attack http://127.0.0.1:9 --people members.npz --administrator administrator --tokens tokens.txt "
    "--repository repository.json --seed 1": 1,
    "study list --json": 0.2,
    "study run carey-information --users 500 --json": 0.02,
    "demo --users 40 --epochs 2 --seed 1 --json": 0.05,
}
"""How often each is tried, compared with the others."""


def _commands() -> list[Door]:
    doors = []
    for text, share in _COMMANDS.items():
        words = tuple(text.split())
        beside = tuple(name for word in words for name in _BESIDE.get(word, ()))
        doors.append(Door(text, (*words, *beside), words, share=share))
    return doors


def _readers() -> list[Door]:
    def topics() -> Any:
        from reidrisk import topics

        return topics

    def tree() -> Any:
        return topics().Taxonomy({1: "/News", 2: "/News/Weather", 3: "/Sports", 4: "/Sports/Golf", 5: "/Law"})

    def bags_pair() -> Any:
        from reidrisk import io

        return io.read_bags_pair("bags.csv", "bags.parquet")

    def lastfm() -> Any:
        from reidrisk_studies.carey.items import read_lastfm

        return read_lastfm(_path("lastfm.dat"))

    def msweb() -> Any:
        from reidrisk_studies.carey.items import read_msweb

        return read_msweb(_path("msweb.data.gz"))

    def msnbc() -> Any:
        from reidrisk_studies.floc.people import read_msnbc

        return read_msnbc(_path("msnbc.zip"))

    def panel() -> Any:
        from reidrisk_studies.floc.people import read_panel

        return read_panel(_path("panel.rds"), _path("override_list.tsv"), _path("taxonomy.md"))

    def read(area: str, function: str, *arguments: str) -> Callable[[], Any]:
        def call() -> Any:
            from importlib import import_module

            return getattr(import_module(area if area.startswith("reidrisk_") else f"reidrisk.{area}"), function)(
                *arguments
            )

        return call

    def network(area: str, kind: str, file: str) -> Callable[[], Any]:
        def call() -> Any:
            from importlib import import_module

            return getattr(import_module(f"reidrisk.{area}"), kind).load(file)

        return call

    def repository() -> Any:
        from reidrisk.bandits.adversary.repository import Repository

        return Repository.read(_path("repository.json"))

    def example() -> Any:
        import numpy as np

        from reidrisk.io.tfrecord.examples import feature_kinds

        return feature_kinds(np.frombuffer(_path("one.example").read_bytes(), dtype=np.uint8))

    def published() -> Any:
        from reidrisk import release

        return release.read_published("stats/q_within.json", "stats/q_across.json", "stats/taxonomy.json", k=2)

    def buckets() -> Any:
        return topics().read_utility_buckets("buckets.tsv", tree())

    def model() -> Any:
        return topics().HostModel.read("hosts", tree())

    def truth() -> Any:
        from reidrisk import io

        return io.read_truth(_path("truth.csv"), io.read_pair("a.csv", "b.csv", allow_unmatched=True))

    tables = {
        "read_traces": ("a.csv", "a.parquet", "a.arrow", "a.npz", "a-long.csv", "dated.csv"),
        "read_top_sets": ("sets.parquet", "sets.arrow", "sets.npz", "sets-long.csv"),
        "read_bags": ("bags.csv", "bags.parquet", "bags.arrow"),
        "read_channel": ("matrix.csv", "matrix.npz", "sparse.npz", "matrix.parquet"),
        "read_vocabulary": ("words.txt", "words.json"),
        "read_tfrecords": ("sets.tfrecord", "clients.tfrecord"),
    }
    doors = [
        Door(f"io.{name} {file}", (file,), call=read("io", name, file))
        for name, files in tables.items()
        for file in files
    ]
    return [
        *doors,
        Door("io.read_bags_pair", ("bags.csv", "bags.parquet"), call=bags_pair),
        Door("io.read_truth", ("truth.csv", "a.csv", "b.csv"), call=truth),
        Door("io.parse_example", ("one.example",), call=example),
        Door("topics.read_histories", ("visits.csv",), call=read("topics", "read_histories", "visits.csv")),
        Door("topics.read_utility_buckets", ("buckets.tsv",), call=buckets),
        Door("topics.HostModel.read", ("hosts",), call=model),
        Door("populations.read_rates", ("rates.csv",), call=read("populations", "read_rates", "rates.csv")),
        Door("populations.read_rates gz", ("rates.csv.gz",), call=read("populations", "read_rates", "rates.csv.gz")),
        Door("bandits.Repository.read", ("repository.json",), call=repository),
        Door("sequence.Trained.load", ("sequence.pt",), call=network("sequence", "Trained", "sequence.pt"), share=1),
        Door("attacks.Neural.load", ("neural.pt",), call=network("attacks", "Neural", "neural.pt"), share=1),
        Door("release.read_users", ("users",), call=read("release", "read_users", "users")),
        Door("release.read_statistics", ("stats",), call=read("release", "read_statistics", "stats")),
        Door("release.read_published", ("stats",), call=published),
        Door(
            "bandits.read_matrices", ("matrices.npz",), call=read("bandits", "read_matrices", "matrices.npz"), share=2
        ),
        *(
            Door(
                f"studies.{function} {file}",
                (file,),
                call=read(f"reidrisk_studies.galozy.{data}", function, file),
                share=share,
            )
            for data, function, file, share in (
                ("fitbit", "read_fitbit", "fitbit", 2.0),
                ("casas", "read_casas", "homes", 0.5),
                ("endomondo", "read_endomondo", "workouts.json", 2.0),
                ("endomondo", "read_endomondo", "workouts.json.gz", 1.0),
            )
        ),
        Door("studies.read_lastfm", ("lastfm.dat",), call=lastfm),
        Door("studies.read_msweb", ("msweb.data.gz",), call=msweb),
        Door("studies.read_msnbc", ("msnbc.zip",), call=msnbc),
        Door("studies.read_panel", ("panel.rds", "override_list.tsv", "taxonomy.md"), call=panel, share=1),
    ]


def _path(name: str) -> Any:
    from pathlib import Path

    if not Path(name).is_file():  # what opens them here is no part of the package
        raise FileNotFoundError(name)
    return Path(name)


DOORS = {door.name: door for door in [*_commands(), *_readers()]}
"""By name; what is not here is not tried, and a test says so."""
