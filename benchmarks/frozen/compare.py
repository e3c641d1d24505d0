"""The menu of attacks against a frozen one, on the same cases: the regret of using this one instead of that.

    regret of a case = best rate of the frozen menu - best rate of the new menu

The best of each menu is taken with hindsight, as an audit does, which knows the truth. Settings are natural where two
people could have made both tables (two observers, an earlier and a later time, independent samples, known facts), and
contrived where one record was cut in a way that nobody records (half of the lines of a receipt, whole items to a side).
"""

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

CONTRIVED = ("halves", "one-in-five", "apart")
LOSS = 0.03  # level: regret from which a case is printed
Key = tuple[str, str, int]
"""Data set, setting and seed."""


class Case(NamedTuple):
    """The best rate of a menu on one case, by which attack, its standard error, and the seconds of all attacks."""

    rate: float
    attack: str
    error: float
    seconds: float


class Regret(NamedTuple):
    """Mean regret of some cases, its standard error over cases, and the seconds of both menus."""

    n: int
    mean: float
    error: float
    seconds: tuple[float, float]


def read(path: Path) -> dict[Key, Case]:
    """Read a frozen menu: the best attack of each case."""
    cases = json.loads(path.read_text("utf-8"))["cases"]
    return {(case["data"], case["setting"], case["seed"]): best(case["attacks"]) for case in cases}


def best(attacks: Mapping[str, Mapping[str, Any]]) -> Case:
    """Return the attack with the largest rate; the first by name among equals."""
    ran = {name: row for name, row in sorted(attacks.items()) if "rate" in row}
    name = max(ran, key=lambda one: ran[one]["rate"])
    seconds = sum(row["seconds"] for row in ran.values())
    return Case(ran[name]["rate"], name, ran[name]["error"], seconds)


def group(key: Key) -> str:
    """Return whether a setting is natural or contrived."""
    return "contrived" if key[1] in CONTRIVED else "natural"


def regret(frozen: Mapping[Key, Case], new: Mapping[Key, Case]) -> dict[str, Regret]:
    """Return the mean regret of natural, contrived and all cases that both menus were run on."""
    both = [key for key in frozen if key in new]
    chosen = {name: [key for key in both if group(key) == name] for name in ("natural", "contrived")} | {"all": both}
    return {name: _mean(frozen, new, keys) for name, keys in chosen.items() if keys}


def losses(frozen: Mapping[Key, Case], new: Mapping[Key, Case], least: float = LOSS) -> list[tuple[Key, Case, Case]]:
    """Return the cases with a regret above ``least``, the largest first."""
    lost = [(key, frozen[key], new[key]) for key in frozen if key in new and frozen[key].rate - new[key].rate > least]
    return sorted(lost, key=lambda one: one[2].rate - one[1].rate)


def lines(frozen: Mapping[Key, Case], new: Mapping[Key, Case]) -> list[str]:
    """Return the comparison as text: a line per group, then the losses."""
    shown = [f"{'group':10} {'cases':>6} {'mean regret':>12} {'error':>6} {'seconds, frozen':>16} {'new':>8}"]
    for name, found in regret(frozen, new).items():
        mean, error = f"{100 * found.mean:+.2f}", f"{100 * found.error:.2f}"
        shown.append(f"{name:10} {found.n:6} {mean:>12} {error:>6} {found.seconds[0]:16.0f} {found.seconds[1]:8.0f}")
    for key, old, now in losses(frozen, new):
        error = math.hypot(old.error, now.error)
        rates = f"{100 * old.rate:5.1f} by {old.attack} -> {100 * now.rate:5.1f} by {now.attack}"
        shown.append(f"loss: {' '.join(map(str, key)):44} {rates} (error {100 * error:.1f}), {group(key)}")
    return shown


def _mean(frozen: Mapping[Key, Case], new: Mapping[Key, Case], keys: Sequence[Key]) -> Regret:
    gaps = [frozen[key].rate - new[key].rate for key in keys]
    mean = sum(gaps) / len(gaps)
    spread = sum((gap - mean) ** 2 for gap in gaps) / max(len(gaps) - 1, 1)
    seconds = sum(frozen[key].seconds for key in keys), sum(new[key].seconds for key in keys)
    return Regret(len(keys), mean, math.sqrt(spread / len(gaps)), seconds)
