"""How sure the attacker can be: which attack is asked, and what it says of itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from reidrisk import measure
from reidrisk.attacks import Attack, Links
from reidrisk.audit.spec import AuditSpec
from reidrisk.results import Risk
from reidrisk.traces import Traces

__all__ = ["SURE", "by_strength", "how_sure"]

SURE = 0.9
"""A chance at which an attack that nobody can check is called sure."""


def by_strength(chosen: list[Attack[Any]], risks: list[Risk]) -> list[Attack[Any]]:
    """Return the attacks, the strongest first; where nothing was measured, the most elaborate first."""
    rates = {risk.attack: risk.rate for risk in risks}
    return sorted(chosen, key=lambda attack: -rates[attack.name]) if rates else chosen[::-1]


def how_sure(
    ordered: list[Attack[Any]],
    targets: Traces,
    scored: Traces,
    known: measure.Truth | None,
    few: npt.NDArray[np.int64],
    spec: AuditSpec,
) -> tuple[str | None, tuple[measure.Choosiness, ...]]:
    """Ask the strongest attack that has probabilities how sure it is of these few records.

    Where the truth is not known, nobody can say which is the strongest: then the one speaks that is sure of the most
    records, because to understate would be the worse mistake.
    """
    asked = scored.take(few)
    found: list[tuple[Attack[Any], Links]] = []
    for attack in ordered:
        links = attack.fit(targets).link(asked, probability=True)
        if links.probability is not None:
            found.append((attack, links))
            if known is not None:
                break
    if not found:
        return None, ()
    attack, links = max(found, key=lambda one: int(np.sum(_sure(one[1]) >= SURE)))
    credit = None if known is None else measure.credits(attack, asked, links, known.target[few])
    return attack.name, measure.choosiness(_sure(links), credit, spec.level, spec.min_group)


def _sure(links: Links) -> npt.NDArray[np.float64]:
    return np.zeros(len(links)) if links.probability is None else links.probability
