"""Every registered attack on every public data set at hand, in every setting: who finds more people, and by how much.

The comparison is paired: all attacks get the same records to identify. Data sets are described in data/manifest.toml;
what is not on the machine is left out and listed. With --result, what was found is written after each setting, and a
run that was stopped goes on there. `--against frozen` runs seeds 0 and 1 at the sizes of frozen/attackers.json and
prints what the present menu loses to that one: mean regret of natural and contrived settings, and the losses.
"""

import argparse
import json
import os
import shlex
import sys
from pathlib import Path

from data.readers import READERS
from frozen import compare
from rich.console import Console

from reidrisk import bench, io, present
from reidrisk.present.console import print_page

HERE = Path(__file__).parent


def wanted() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", action="append", default=[], metavar="DATA", help="repeatable; default: all")
    parser.add_argument("--attack", action="append", default=[], help="repeatable; default: all")
    parser.add_argument("--setting", action="append", default=[], help="repeatable; default: all")
    parser.add_argument("--users", type=int, default=2_000)
    parser.add_argument("--queries", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--assigned", type=int, default=0, help="of the best attacks, linked one to one, too")
    parser.add_argument("--result", type=Path, help="write JSON here, and go on from there")
    parser.add_argument("--out", type=Path, help="write the page here")
    parser.add_argument("--against", choices=["frozen"], help="compare with the menu that was frozen")
    return parser.parse_args()


def say(stage: str, share: float) -> None:
    """Show what is being done, on one line."""
    if sys.stderr.isatty():
        print(f"\r{stage:60}", end="", file=sys.stderr, flush=True)


def against(manifest: bench.Manifest, asked: argparse.Namespace) -> None:
    """Run the present menu on the frozen cases, and print what it loses."""
    path = HERE / "frozen" / "attackers.json"
    sizes, frozen = json.loads(path.read_text("utf-8")), compare.read(path)
    new: dict[compare.Key, compare.Case] = {}
    for seed in sorted({seed for _, _, seed in frozen}):
        spec = bench.BenchSpec(
            attacks=asked.attack, settings=asked.setting, users=sizes["users"], queries=sizes["queries"], seed=seed
        )
        found: dict[compare.Key, dict[str, dict[str, float]]] = {}
        for row in bench.run(manifest, spec, READERS, say).rows:
            # The intervals are at 95 %: a standard error is about a quarter of their width.
            shown = {"rate": row.rate, "error": (row.high - row.low) / 4.0, "seconds": row.seconds}
            found.setdefault((row.data, row.setting, seed), {})[row.attack] = shown
        new |= {key: compare.best(attacks) for key, attacks in found.items()}
    print("\n".join(compare.lines(frozen, new)))


def main() -> None:
    asked = wanted()
    os.environ.setdefault("REIDRISK_DATA", str(Path("../shared/data").absolute()))
    manifest = bench.read_manifest(HERE / "data" / "manifest.toml").only(asked.only)
    if asked.against is not None:
        against(manifest, asked)
        return
    spec = bench.BenchSpec(
        attacks=asked.attack,
        settings=asked.setting,
        users=asked.users,
        queries=asked.queries,
        seed=asked.seed,
        assigned=asked.assigned,
    )
    found = None
    if asked.result is not None and asked.result.exists():
        found = bench.Bench.from_json(asked.result.read_text("utf-8"))
    if found is not None and (found.seed, found.users, found.queries) != (spec.seed, spec.users, spec.queries):
        raise SystemExit(f"{asked.result} was made with another seed or other sizes; name another file")
    done = {(row.data, row.setting) for row in found.rows} if found else set()
    for data, setting in ((data, setting) for data in manifest.sets for setting in spec.settings or bench.SETTINGS):
        if (data.name, setting) in done:
            continue
        part = spec.model_copy(update={"settings": (setting,)})
        more = bench.run(manifest.only([data.name]), part, READERS, say)
        found = more if found is None else found.plus(more)
        if asked.result is not None:
            with io.write_atomically(asked.result) as path:
                path.write_text(found.to_json(), encoding="utf-8")
    if found is None:
        return
    again = shlex.join(["python", *sys.argv])
    print_page(present.page(found, again), Console(width=140))
    if asked.out is not None:
        present.write(found, asked.out, again)


if __name__ == "__main__":
    main()
