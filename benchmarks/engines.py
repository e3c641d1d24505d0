"""The exact search by joins beside the local kernels: DuckDB and Spark, from Parquet, in the same run.

    python benchmarks/engines.py --users 10000000                       # local, duckdb, spark; ratios, peak memory
    python benchmarks/engines.py --growth 1000000,2000000,4000000,8000000
    python benchmarks/engines.py --users 100000000 --engines duckdb --memory 8GB
    python benchmarks/engines.py --estimates                            # six jobs, each estimated before it runs

Everyone against everyone with weighted Hamming, r = 4. Each search is a process of its own, so that its peak memory and
processor time are its own; the answers are compared bit for bit where the local search fits in memory, and on some
queries, shard by shard, where it does not. People have five favourite tokens of 469, of which a site shows one per
epoch, and a random one in 20 cases.
"""

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

TOKENS, EPOCHS, CHUNK = 469, 4, 1_000_000


def favourites(n: int, seed: int) -> np.ndarray:
    """Draw five favourite tokens of each person, common ones more often."""
    rng = np.random.default_rng([seed, 1])
    weights = 1.0 / np.arange(1, TOKENS + 1) ** 0.8
    table = np.repeat(
        np.arange(TOKENS, dtype=np.int16), np.maximum(1, np.rint(weights / weights.sum() * 65_536)).astype(int)
    )
    return table[rng.integers(0, len(table), (n, 5), dtype=np.int32)]


def shown(held: np.ndarray, seed: int, site: int) -> np.ndarray:
    """Draw what a site sees of these people."""
    rng = np.random.default_rng([seed, 2, site])
    seen = np.take_along_axis(held, rng.integers(0, 5, (len(held), EPOCHS), dtype=np.int64), axis=1)
    noise = rng.random(seen.shape, dtype=np.float32) < 0.05
    return np.where(noise, rng.integers(0, TOKENS, seen.shape, dtype=np.int16), seen)


def write_tables(folder: Path, users: int) -> None:
    """Write both tables as shards of a million rows; a table that is there already is left as it is."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    for start in range(0, users, CHUNK):
        n = min(CHUNK, users - start)
        parts = [folder / side / f"part-{start // CHUNK:05}.parquet" for side in ("targets", "queries")]
        if all(part.exists() for part in parts):
            continue
        held = favourites(n, start)
        for site, part in enumerate(parts):
            part.parent.mkdir(parents=True, exist_ok=True)
            tokens = shown(held, start, site)
            columns = {"id": np.arange(start, start + n)} | {f"c{s}": tokens[:, s] for s in range(EPOCHS)}
            pq.write_table(pa.table(columns), part.with_suffix(".new"), row_group_size=125_000)
            part.with_suffix(".new").rename(part)


def stored(folder: Path, side: str, users: int):
    """Return a table as an engine sees it."""
    from reidrisk.search.engines.stored import StoredTokens

    files = tuple(str(folder / side / f"part-{i:05}.parquet") for i in range(-(-users // CHUNK)))
    return StoredTokens(side, files, users, EPOCHS, TOKENS)


def weights_of(folder: Path, users: int):
    """Return the weights that weighted Hamming learns from the first shard."""
    from reidrisk import attacks
    from reidrisk.records import Traces

    tokens = next(stored(folder, "targets", min(users, CHUNK)).pieces()).shard().targets
    return attacks.WeightedHamming(5, 0.05).fit(Traces(tokens, TOKENS)).weights_


def all_tokens(table) -> np.ndarray:
    """Read a whole table."""
    return np.concatenate([piece.shard().targets for piece in table.pieces()])


def java_seconds() -> float:
    """Return the processor time of Spark's own processes, which are nobody's children that end before this one."""
    ticks = 0
    for place in Path("/proc").glob("[0-9]*"):
        try:
            if (place / "comm").read_text().strip() == "java" and b"org.apache.spark" in (
                place / "cmdline"
            ).read_bytes():
                ticks += sum(map(int, (place / "stat").read_text().rpartition(")")[2].split()[11:13]))
        except OSError:  # it has just ended
            continue
    return ticks / os.sysconf("SC_CLK_TCK")


def search(folder: Path, users: int, name: str, memory: str, master: str, spill: Path, keep: bool) -> dict:
    """Do one search in this process, and say what it took and found."""
    from reidrisk.base.options import size
    from reidrisk.search import EpochScorer, Index
    from reidrisk.search.engines import DuckDBEngine, SparkEngine
    from reidrisk.search.engines.join import LatticeJoin
    from reidrisk.search.engines.relational import searched

    weights = weights_of(folder, users)
    targets, queries = (stored(folder, side, users) for side in ("targets", "queries"))
    facts = "count(*) AS n, sum(score) AS score, sum(ties) AS ties, sum(lowest) AS lowest"
    if name == "local":
        EpochScorer(weights, "lattice").best(Index(np.zeros((2, EPOCHS), int), TOKENS), np.zeros((2, EPOCHS), int))
        started, used = time.perf_counter(), time.process_time()
        found = EpochScorer(weights, "lattice").best(Index(all_tokens(targets), TOKENS), all_tokens(queries))
        took = {"seconds": time.perf_counter() - started, "cpu": time.process_time() - used}
        sums = {
            "n": users,
            "score": int(found.score.sum()),
            "ties": int(found.n_ties.sum()),
            "lowest": int(found.target.sum()),
        }
        if keep:
            np.savez(spill / "local.npz", score=found.score, ties=found.n_ties, lowest=found.target)
        return took | {"sums": sums}
    engine = DuckDBEngine(size("memory", memory), spill) if name == "duckdb" else SparkEngine(master, spill)
    with engine.session() as session:
        started, used = time.perf_counter(), time.process_time()
        for table in (targets, queries):
            session.parquet(table.relation, table.files)
        join = LatticeJoin(EPOCHS, TOKENS, (tuple(range(EPOCHS)),), True)
        steps = []
        state = searched(
            session, join, weights, lambda stage, share: steps.append((round(share, 3), time.perf_counter() - started))
        )
        sums = {key: int(value[0]) for key, value in session.fetch(f"SELECT {facts} FROM {state}").items()}
        cpu = time.process_time() - used + (java_seconds() if name == "spark" else 0.0)
        took = {"seconds": time.perf_counter() - started, "cpu": cpu, "sums": sums}
        if keep:
            answers = session.fetch(f"SELECT id, score, ties, lowest FROM {state}")
            order = np.argsort(answers["id"])
            here = np.load(spill / "local.npz")
            took["equal"] = all(bool((answers[k][order] == here[k]).all()) for k in ("score", "ties", "lowest"))
        rng = np.random.default_rng(0)
        some = np.sort(rng.choice(users, min(200, users), replace=False))
        session.put("chosen", {"id": some})
        part = session.fetch(f"SELECT s.* FROM {state} s JOIN chosen c ON s.id = c.id")
    order = np.argsort(part["id"])
    tokens = np.stack([part[f"c{s}"][order] for s in range(EPOCHS)], axis=1).astype(np.int64)
    from reidrisk.search.engines.shards import Question, over

    shards = (piece.shard() for piece in targets.pieces())
    pairs = over(
        Question("best", EpochScorer(weights), tokens), (s._replace(targets=Index(s.targets, TOKENS)) for s in shards)
    )
    took["checked"] = all(
        bool((part[k][order] == v).all()) for k, v in zip(("score", "ties", "lowest"), pairs, strict=True)
    )
    return took


def measured(folder: Path, users: int, name: str, chosen: argparse.Namespace, keep: bool) -> dict:
    """Search in a process of its own; the largest that its spill folder got is watched from here."""
    spill = Path(chosen.spill or folder)
    call = [
        sys.executable,
        __file__,
        "--one",
        name,
        "--users",
        str(users),
        "--folder",
        str(folder),
        "--spill",
        str(spill),
    ]
    call += ["--memory", chosen.memory, "--master", chosen.master] + ["--keep"] * keep
    before, most, over = resource.getrusage(resource.RUSAGE_CHILDREN), [0], threading.Event()

    def watch() -> None:
        while not over.wait(1.0):
            found = [path for root in spill.glob("reidrisk-*") for path in root.rglob("*")]
            most[0] = max(most[0], sum(path.stat().st_size for path in found if path.is_file()))

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    done = subprocess.run(call, capture_output=True, text=True, check=False)
    over.set()
    if done.returncode:
        return {"error": (done.stderr.strip().splitlines() or ["?"])[-1]}
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    found = json.loads(done.stdout.strip().splitlines()[-1])
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return found | {"all_cpu": cpu, "disk": most[0]}


JOBS = (
    ("duckdb", 400_000, ("hamming",)),
    ("duckdb", 800_000, ("hamming", "weighted-hamming")),
    ("duckdb", 1_600_000, ("hamming",)),
    ("duckdb", 800_000, ("hamming", "bm25")),
    ("duckdb", 3_200_000, ("weighted-hamming",)),
    ("spark", 400_000, ("hamming",)),
)


def estimates(folder: Path, chosen: argparse.Namespace) -> None:
    """Estimate six jobs, run each, and print how far off the estimate was; processor time where the engine tells it."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from reidrisk.audit import AuditSpec, Tables, run
    from reidrisk.audit.stored import run as stored_run
    from reidrisk.audit.stored.estimate import estimate
    from reidrisk.base.options import size
    from reidrisk.search.engines import DuckDBEngine, SparkEngine

    stored_run.run_stored.__defaults__ = (None, -1, 1)  # never in memory, however small
    for name, users, attacks in JOBS:
        places = [folder / f"{users}-{side}" for side in ("a", "b")]
        for site, place in enumerate(places):
            if not place.exists():
                place.mkdir(parents=True)
                tokens = shown(favourites(users, 7), 7, site)
                columns = {"user": np.arange(users)} | {f"epoch_{s}": tokens[:, s] for s in range(EPOCHS)}
                pq.write_table(pa.table(columns), place / "part.parquet", row_group_size=125_000)
        inputs = Tables(targets=str(places[0]), queries=str(places[1]), n_tokens=TOKENS)
        spec = AuditSpec(inputs=inputs, seed=1, attacks=attacks, epochs=(EPOCHS,), sample=300, system="topics")
        engine = DuckDBEngine(size("memory", chosen.memory)) if name == "duckdb" else SparkEngine("local[2]")
        said = estimate(spec, engine)
        started, used = time.perf_counter(), time.process_time()
        run(spec, engine=engine)
        took, processor = time.perf_counter() - started, time.process_time() - used
        off = said.processor / processor if said.processor else said.seconds / took
        told = (
            f"estimated {said.seconds:.1f} s, took {took:.1f} s; of processors {said.processor:.1f} and {processor:.1f}"
        )
        print(f"{name:7} {users:>10,}  {' + '.join(attacks):28} {told}: {off:.2f}", flush=True)


def line(users: int, name: str, found: dict, local: dict | None) -> str:
    """Return one line of the table."""
    if "error" in found:
        return f"{users:>12,}  {name:8} {found['error']}"
    ratio = f"{found['cpu'] / local['cpu']:5.1f} x local" if local and name != "local" and name == "duckdb" else ""
    same = (
        "" if local is None else "equal" if found["sums"] == local["sums"] and found.get("equal", True) else "DIFFERENT"
    )
    shards = "" if "checked" not in found else "shards agree" if found["checked"] else "SHARDS DIFFER"
    size = f"{found['peak'] / 1e9:5.2f} GB peak, {found['disk'] / 1e9:5.2f} GB disk"
    took = f"{found['seconds']:8.1f} s  {found['cpu']:8.1f} s processor"
    return f"{users:>12,}  {name:8} {took}  {size}  {ratio} {same} {shards}"


def main() -> None:
    """Print times, memory and ratios."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--users", type=int, default=1_000_000)
    parser.add_argument("--growth", default="")
    parser.add_argument("--engines", default="local,duckdb,spark")
    parser.add_argument("--memory", default="3GB")
    parser.add_argument("--master", default="local-cluster[2,1,1024]")
    parser.add_argument("--folder", default="")
    parser.add_argument("--spill", default="")
    parser.add_argument("--estimates", action="store_true")
    parser.add_argument("--one", default="")
    parser.add_argument("--keep", action="store_true")
    chosen = parser.parse_args()
    if chosen.one:
        found = search(
            Path(chosen.folder), chosen.users, chosen.one, chosen.memory, chosen.master, Path(chosen.spill), chosen.keep
        )
        found["peak"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        print(json.dumps(found))
        return
    folder = Path(chosen.folder or tempfile.mkdtemp(prefix="engines-"))
    sizes = [int(n) for n in chosen.growth.split(",")] if chosen.growth else [chosen.users]
    names = chosen.engines.split(",")
    print(f"weighted Hamming, r = {EPOCHS}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    try:
        if chosen.estimates:
            return estimates(folder, chosen)
        for users in sizes:
            write_tables(folder, users)
            local = None
            for name in names:
                found = measured(folder, users, name, chosen, keep="local" in names and users <= 20_000_000)
                local = found if name == "local" else local
                print(line(users, name, found, local), flush=True)
    finally:
        if not chosen.folder:
            shutil.rmtree(folder, ignore_errors=True)
    print(f"load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
