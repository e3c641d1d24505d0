"""Run the benchmarks one after the other, each in a process of its own, and say at the end which of them failed.

    python benchmarks                  # smaller than in the documentation, under half an hour on two cores
    python benchmarks --full           # as each is by default: hours; what needs a GPU is left out where there is none
    python benchmarks forecast aim     # these alone

`make bench` is the first of these, `make bench BENCH=--full` the second. A single script takes options of its own.
"""

import argparse
import shlex
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent

SMALLER = {
    "aim": "--people 300 --trials 2",
    "attack_scale": "--users 50_000",
    "attackers": "--users 300 --queries 100 --only published --only lastfm --only fitbit",
    "attributes": "--queries 500",
    "bandits": "",
    "ceiling": "--users 2_000 --fitted 20_000 --types 10 --steps 60 --sample 500",
    "cells": "--rows 1_000_000 --people 100_000 --queries 1_000",
    "changes": "--set logs --people 300",
    "cohorts": "",
    "doors": "--only codes-20-digits-lines --only cells-people",
    "engines": "--users 200_000",
    "forecast": "--largest 100_000 --seeds 2",
    "gpu_search": "--device cpu --users 300 --queries 64 --runs 1",
    "jha_curves": "--users 500",
    "jha_neural_gpu": "",
    "matching": "--seeds 1 --others 1_000",
    "neural_gpu": "--device cpu --training 3_000 --targets 1_000 --queries 100 --steps 20 --passes 1",
    "neural_lists": "--splits 1",
    "one_export": "--people 20_000 --events 1_000_000",
    "profile_bayes": "--seeds 2 --users 1_000 --queries 500",
    "profile_kernel": "--targets 20_000",
    "reach_gpu": "--device cpu --training 2_000 --targets 1_000 --queries 100 --steps 20 --passes 1 --epochs 1 8",
    "read_wide_parquet": "--users 1_000_000",
    "release_fit": "--users 20_000 --types 50 --device cpu",
    "release_scale": "--users 200_000",
    "replay_histories": "--visits 200_000",
    "sequence_gpu": "--device cpu --users 2_000 --known 2_000 --passes 1",
    "service": "--seconds 5",
    "sparse_search": "--targets 200_000",
    "vectors": "--targets 100_000 --queries 1_000 --people 2_000",
    "vectors_gpu": "--device cpu --targets 20_000 --queries 2_000",
    "what_if": "--only changes",
}
"""What makes each benchmark end soon; nothing for those that do anyway."""

GPU = ("gpu_search", "jha_neural_gpu", "neural_gpu", "reach_gpu", "sequence_gpu", "vectors_gpu")
"""Those whose own sizes are for a GPU."""


def wanted() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python benchmarks", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="default: all")
    parser.add_argument("--full", action="store_true", help="the sizes that each has by default")
    given = parser.parse_args()
    if unknown := [name for name in given.names if name not in SMALLER]:
        parser.error(f"there is no benchmark called {unknown[0]!r}; there are {', '.join(SMALLER)}")
    return given


def has_gpu() -> bool:
    try:
        import torch
    except ModuleNotFoundError:
        return False
    return torch.cuda.is_available()


def main() -> int:
    given = wanted()
    names = given.names or list(SMALLER)
    left_out = [name for name in names if given.full and name in GPU and not has_gpu()]
    failed = []
    for name in names:
        if name in left_out:
            continue
        options = [] if given.full else SMALLER[name].split()
        print("==", shlex.join(["python", f"benchmarks/{name}.py", *options]), flush=True)
        began = time.perf_counter()
        code = subprocess.run([sys.executable, str(HERE / f"{name}.py"), *options], check=False).returncode
        print(f"== {name}: {time.perf_counter() - began:.0f} s", flush=True)
        if code:
            failed.append(f"{name} (exit {code})")
    if left_out:
        print(f"== left out, as there is no GPU: {', '.join(left_out)}")
    if failed:
        print(f"== failed: {', '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
