"""``python -m fuzz``: try many cases, or one again; print what went wrong and how to see it again."""

from __future__ import annotations

import argparse
import os
import resource
import shlex
import sys
import tempfile
import time
from pathlib import Path

from fuzz.case import enter, fault, prepared
from fuzz.corpus import make_corpus
from fuzz.drive import Findings, drive


def main() -> int:
    """Return 1 where something went wrong."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--case", type=int, help="try this one again, in this process, and show where it fails")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--out", type=Path, default=Path("fuzz-failures"), help="folder for the files of failing cases")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="fuzz-corpus-") as corpus:
        make_corpus(Path(corpus))
        if given.case is not None:
            return _again(given.seed, given.case, Path(corpus), given.out)
        began = time.monotonic()
        found = drive(given.seed, given.cases, Path(corpus), given.out.absolute(), given.workers, given.first)
        _tell(found, given.seed, given.out, time.monotonic() - began)
    return 1 if found.wrong or found.cases < given.cases else 0


def _again(seed: int, number: int, corpus: Path, out: Path) -> int:
    from fuzz.worker import keep

    keep(seed, number, corpus, out.absolute(), "tried again")
    case_folder = Path(tempfile.mkdtemp(prefix="fuzz-case-"))
    case = prepared(seed, number, corpus, case_folder)
    print(shlex.join(("reidrisk", *case.words)) if case.words else case.door.name)
    print(f"{case.told}\nfiles: {out}/{seed}-{number}")
    os.chdir(case_folder)
    ended = enter(case.door, case.words)
    print(f"exit {ended.code}\nout: {ended.out!r:.2000}\nerr: {ended.err!r:.2000}\nwrong: {fault(ended)}")
    return 0 if fault(ended) is None else 1


def _tell(found: Findings, seed: int, out: Path, seconds: float) -> None:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = used.ru_utime + used.ru_stime
    groups: dict[tuple[str, str], list[int]] = {}
    told: dict[tuple[str, str], str] = {}
    for wrong in found.wrong:
        key = (wrong["door"], wrong["wrong"])
        groups.setdefault(key, []).append(wrong["done"])
        told.setdefault(key, wrong["told"])
    for (door, what), numbers in sorted(groups.items(), key=lambda group: group[0][1]):
        print(f"{what}\n    {door}\n    {len(numbers)} times, such as {told[door, what]:.150}")
        print(f"    see one again: python -m fuzz --seed {seed} --case {numbers[0]}")
    if found.wrong:
        print(f"{len(found.wrong)} cases went wrong; their files are in {out}")
    codes = ", ".join(f"{times:,} x exit {code}" for code, times in sorted(found.codes.items()))
    rate = f"{cpu:.0f} s of processor time, {found.cases / cpu:.0f} a second of it"
    print(f"{found.cases:,} cases in {seconds:.0f} s ({rate}): {codes}")
    if "FUZZ_TIMES" in os.environ:
        for door, times in sorted(found.doors.items(), key=lambda item: -sum(item[1]))[:25]:
            print(f"{sum(times):7.1f} s {len(times):5} x {1000 * sum(times) / len(times):7.1f} ms  {door}")


if __name__ == "__main__":
    sys.exit(main())
