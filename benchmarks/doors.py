"""Small exports with a known answer: does the command line find what a few lines by hand find, and nothing else?

    python benchmarks/doors.py leaky              # by hand at least half of the people are found: must not pass
    python benchmarks/doors.py safe               # safe by construction: should pass
    python benchmarks/doors.py --only log-second  # one export, of either suite

Each export is written to a temporary folder and audited as a user would: `reidrisk audit FILES --seed 1 --no-what-if`,
then `reidrisk gate --max-risk`. The answer is the gate's: pass, fail or undecided; refused, if there is no result.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import io
import json
import multiprocessing
import subprocess
import sys
import tempfile
import time
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

from exports import LEAKY, SAFE

ANSWERS = {0: "pass", 1: "fail", 2: "refused", 3: "undecided"}
SAFE_SHARE = 34 / 40  # prior: of the safe exports that pass, as the aim of the suite
FALSE_ALARMS = 2  # prior: rates above the possible one that the suite allows
PATIENCE = 300  # limit: seconds for one audit


def called(folder: Path, *words: str) -> tuple[int, str]:
    """Run one command line in a folder; return its exit code, and what it printed."""
    command = [sys.executable, "-m", "reidrisk", *words]
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        return 124, "took too long"
    return done.returncode, done.stdout if done.returncode in (0, 1, 3) else done.stderr


def called_here(folder: Path, *words: str) -> tuple[int, str]:
    """Run one command line in this process, which spares starting Python and loading kernels; else as `called`."""
    from reidrisk.cli import main as command

    printed, errors, code = io.StringIO(), io.StringIO(), 0
    sys.argv = ["reidrisk", *words]
    with contextlib.chdir(folder), contextlib.redirect_stdout(printed), contextlib.redirect_stderr(errors):
        try:
            command()
        except SystemExit as end:
            code = int(end.code or 0)
    return code, (printed if code in (0, 1, 3) else errors).getvalue()


def tried(name: str, limit: float, seed: int, budget: str | None, warm: bool) -> dict[str, Any]:
    """Write one export, audit it, and return the gate's answer beside what is true."""
    export = next(export for export in LEAKY + SAFE if export.name == name)
    call = called_here if warm else called
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        files = export.write(folder, seed)
        by_hand = float(export.by_hand(files))
        added = [*export.options, *(["--budget", budget] if budget else [])]
        audit = ["audit", *(file.name for file in files), "--seed", "1", "--no-what-if", "--result", "r.json", *added]
        code, printed = call(folder, *audit)
        gate: dict[str, Any] = {}
        if code == 0:
            code, printed = call(folder, "gate", "r.json", "--max-risk", str(limit), "--json")
            gate = json.loads(printed) if code in (0, 1, 3) else {}
    return {
        "name": export.name,
        "suite": "leaky" if export.best is None else "safe",
        "hard": export.hard,
        "by_hand": by_hand,
        "best": export.best,
        "answer": ANSWERS.get(code, f"exit {code}"),
        **{key: gate.get(key) for key in ("why", "rate", "low", "high", "attack")},
        "found": export.best is None and (gate.get("rate") or 0.0) >= by_hand / 2,
        "alarm": export.best is not None and (gate.get("low") or 0.0) > export.best,
        "said": "" if gate else next(iter(printed.strip().splitlines()[-1:]), ""),
        "seconds": time.perf_counter() - began,
    }


def shown(row: dict[str, Any]) -> str:
    """Return one line of the table, rates in percent."""
    found = "" if row["rate"] is None else f"{row['rate']:7.1%} ({row['low']:.1%} to {row['high']:.1%})"
    wrong = row["alarm"] or (row["answer"] == "pass") == (row["suite"] == "leaky")
    mark = ("hard" if row["hard"] else "ALARM" if row["alarm"] else "<--") if wrong else ""
    true = row["by_hand"] if row["best"] is None else row["best"]
    reason = f"{row['attack']}, {row['why']}" if row["attack"] else row["said"][:80]
    return f"{row['name']:29} {true:6.1%} {row['answer']:10} {found:28} {row['seconds']:5.1f} s {mark:6} {reason}"


def summed(rows: list[dict[str, Any]]) -> bool:
    """Print how each suite answered; return whether it is as it should be."""
    right = True
    for suite in ("leaky", "safe"):
        if not (part := [row for row in rows if row["suite"] == suite]):
            continue
        answers = ", ".join(f"{count} {name}" for name, count in collections.Counter(r["answer"] for r in part).items())
        print(f"\n{suite}: {len(part)} exports: {answers}; {sum(row['seconds'] for row in part):.0f} s in all")
        passed = [row["name"] for row in part if row["answer"] == "pass" and not row["hard"]]
        if suite == "leaky":
            print(f"at least half of what is found by hand: {sum(row['found'] for row in part)} of {len(part)}")
            print(f"pass although people are found by hand: {len(passed)}, aim 0: {' '.join(passed)}")
            print(f"hard ones that pass: {' '.join(r['name'] for r in part if r['answer'] == 'pass' and r['hard'])}")
            right &= not passed
        else:
            alarms = [row["name"] for row in part if row["alarm"]]
            others = [f"{row['name']} ({row['answer']})" for row in part if row["answer"] != "pass"]
            print(f"pass: {len(passed)} of {len(part)}, aim {SAFE_SHARE:.0%}; others: {' '.join(others)}")
            print(f"false alarms: {len(alarms)}, aim at most {FALSE_ALARMS}: {' '.join(alarms)}")
            right &= len(passed) >= SAFE_SHARE * len(part) and len(alarms) <= FALSE_ALARMS
    return right


def main() -> int:
    """Run what was asked for; exit 1 where an aim is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suite", nargs="?", choices=("leaky", "safe"), help="default: both")
    parser.add_argument("--only", action="append", metavar="NAME", help="this export alone; repeatable")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--limit", type=float, default=0.1, help="the gate's highest acceptable risk (0.1)")
    parser.add_argument("--seed", type=int, default=1, help="of the exports; audits have seed 1")
    parser.add_argument("--budget", help="of each audit, such as 10s; default: its own")
    parser.add_argument("--warm", action="store_true", help="one process for each job: a third of the processor time")
    parser.add_argument("--out", type=Path, help="write what was found here (JSON)")
    given = parser.parse_args()
    exports = {"leaky": LEAKY, "safe": SAFE}.get(given.suite, LEAKY + SAFE)
    if unknown := set(given.only or ()) - {export.name for export in exports}:
        parser.error(f"there is no export called {min(unknown)!r}; there are {', '.join(e.name for e in exports)}")
    exports = [export for export in exports if not given.only or export.name in given.only]
    context = multiprocessing.get_context("spawn")
    pool: Executor = ProcessPoolExecutor(given.jobs, context) if given.warm else ThreadPoolExecutor(given.jobs)
    with pool:
        tasks = [pool.submit(tried, e.name, given.limit, given.seed, given.budget, given.warm) for e in exports]
        rows = []
        for task in tasks:
            rows.append(task.result())
            print(shown(rows[-1]), flush=True)
    if given.out:
        given.out.write_text(json.dumps(rows, indent=1))
    return 0 if summed(rows) else 1


if __name__ == "__main__":
    sys.exit(main())
