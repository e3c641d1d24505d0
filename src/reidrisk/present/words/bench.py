"""Sentences about a benchmark of attacks: which lost the least, and by how much."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reidrisk.present.terms import Terms
from reidrisk.present.words import attack_label, reads

if TYPE_CHECKING:
    from reidrisk.bench import Bench


def points(share: float, signed: bool = False) -> str:
    """Write a share, or a difference of two, in points of a hundred.

    >>> points(0.974), points(0.0035), points(-0.0041, signed=True)
    ('97.4', '0.4', '-0.4')
    """
    return f"{100 * share:+.1f}" if signed else f"{100 * share:.1f}"


@reads("Bench")
def _bench(found: Bench, terms: Terms) -> str:
    held = any(row.held_back for row in found.rows) or None  # where nothing was chosen counts, if there is such data
    tried = {(row.data, row.setting) for row in found.rows if held is None or row.held_back}
    if not tried:
        return "Nothing could be compared: no attack ran on any data set."
    standings = found.standings(held)
    first = next((one for one in standings if one.settings == len(tried)), standings[0])
    sets = terms.many("data set", len({data for data, _ in tried}))
    where = f"{terms.many('setting', len(tried))} of {sets}{' on which nothing was chosen' if held else ''}"
    most = f" on average, at most {points(first.most_behind)}" if first.most_behind > 0.0 else ""
    lost = f"{points(first.mean_behind)} people per 100 fewer than the best attack of each{most}"
    unbeaten = f"it is not beaten in {first.unbeaten} of {first.settings}"
    return f"In {where}, {attack_label(first.attack)} falls behind the least: it finds {lost}; {unbeaten}."
