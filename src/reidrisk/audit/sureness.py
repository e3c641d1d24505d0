"""How sure the attacker can be: which attack is asked, and, without truth, whether it may be believed."""

from collections.abc import Container
from typing import Any, NamedTuple

import numpy as np

from reidrisk import measure
from reidrisk.attacks import Attack
from reidrisk.audit.probability_check import ProbabilityCheck, check_probabilities
from reidrisk.audit.spec import AuditSpec
from reidrisk.base import Ints, Note
from reidrisk.measure.risk import linked
from reidrisk.search.engines import Engine

SURE = 0.9  # a chance at which an attack is called sure
_CHECKED = (0.5, 0.8, SURE, 0.95, 0.99)  # thresholds that are rehearsed, where the truth is not known
_PEOPLE = 100  # from which on links of other people teach something
_OFF = 0.03  # how far probabilities may be off, beyond chance, and still be shown


class Sureness(NamedTuple):
    """Which attack was asked how sure it is, its curve, and the rehearsals where the truth is not known.

    ``notes`` say whose probabilities did not hold, and whether they were put right.
    """

    attack: str | None = None
    curve: tuple[measure.Choosiness, ...] = ()
    rehearsals: tuple[ProbabilityCheck, ...] = ()
    notes: tuple[Note, ...] = ()


def how_sure(
    chosen: list[Attack[Any]],
    rates: dict[str, float],
    targets: Any,
    asked: Any,
    truth: Ints,
    spec: AuditSpec,
    engine: Engine | None = None,
    fitted: Container[str] = (),
) -> Sureness:
    """Ask the attack with the highest rate that has probabilities how sure it is, and count how often it is right.

    Only probabilities that hold are shown: as stated, or put right by what the links of other people teach. Where
    neither holds, the next attack is asked. Attacks whose names are among ``fitted`` know these targets already.
    """
    notes: tuple[Note, ...] = ()
    for attack in sorted(chosen, key=lambda attack: -rates[attack.name]):
        links = linked(attack if attack.name in fitted else attack.fit(targets), asked, engine, probability=True)
        if links.probability is None:
            continue
        credit = measure.credits(attack, asked, links, truth)
        off = measure.calibration(links.probability, credit, links.n_ties).excess
        if off <= _OFF:
            return Sureness(attack.name, measure.choosiness(links.probability, credit, spec.level), notes=notes)
        better = measure.recalibrated(links.probability, credit, truth) if len(np.unique(truth)) >= _PEOPLE else None
        if better is not None and measure.calibration(better, credit, links.n_ties).excess <= _OFF:
            notes += (Note("probabilities-corrected", attack=attack.name, off=off),)
            return Sureness(attack.name, measure.choosiness(better, credit, spec.level), notes=notes)
        notes += (Note("probabilities-off", attack=attack.name, off=off),)
    return Sureness(notes=notes)


def how_sure_unknown(
    chosen: list[Attack[Any]], targets: Any, asked: Any, seed: int, spec: AuditSpec, engine: Engine | None = None
) -> Sureness:
    """Rehearse every attack that has probabilities on the targets, and let one speak whose probabilities held.

    Of those that held, the one speaks that is sure of the most records, because to understate would be the worse
    mistake; and only at the thresholds that held. Where none did, nothing is said of how sure an attack is.
    """
    rehearsals, spoken = [], []
    for attack in chosen:
        stated = linked(attack.fit(targets), asked, engine, probability=True).probability
        if stated is None:
            continue
        rehearsals.append(check_probabilities(attack, targets, stated, _CHECKED, seed, spec.level))
        curve = measure.choosiness(stated, None, spec.level)
        if held := tuple(point for point in curve if point.threshold in rehearsals[-1].passed):
            spoken.append((attack.name, held))
    if not spoken:
        return Sureness(rehearsals=tuple(rehearsals))
    name, curve = max(spoken, key=lambda one: sum(p.answered for p in one[1] if p.threshold >= SURE))
    return Sureness(name, curve, tuple(rehearsals))
