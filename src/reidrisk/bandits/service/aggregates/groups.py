"""Groups: which batches are put together, the matrix that each group is given, and how risky the whole is."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from reidrisk.bandits.linkage.measure import ATTACKS, deanonymisation
from reidrisk.bandits.service.aggregates.batches import Member
from reidrisk.bandits.service.aggregates.noise import laplace, private_mean, private_sigma
from reidrisk.bandits.service.spec import ServiceSpec
from reidrisk.bandits.sharing.anonymise import Shared, finished, started, truncated
from reidrisk.bandits.sharing.grouping import clusters
from reidrisk.bandits.sharing.strategies import Clusters, Laplace, PrivateClusters, TruncatedSVD
from reidrisk.bandits.sharing.weights import cell_weights
from reidrisk.base.arrays import Floats, Ints

KNOWN = 91  # cells that the paper's attacker knows of a large matrix; all but two of a small one

_DIGITS = 9  # to which handed-out cells are rounded; rows still add up far within what is accepted


@dataclass(frozen=True, eq=False)
class SharedGroup:
    """A group as it is handed out, and as a newcomer's metadata are compared with it."""

    key: str  # the same for the same records under the same strategy
    centre: Floats  # (p,): mean profile
    matrix: Floats  # (d, d)
    members: tuple[str, ...]

    @property
    def size(self) -> int:
        """Number of members behind it."""
        return len(self.members)


@dataclass(frozen=True, eq=False)
class Built:
    """What a rebuild would hand out, and the measured risk of it."""

    groups: tuple[SharedGroup, ...]
    risk: dict[str, Any]
    draws: int  # groups whose noise was drawn anew


def highest_risk(risk: Mapping[str, Any]) -> float | None:
    """Return the upper end of the stronger attack's interval; None where nothing was measured."""
    found = [risk[attack]["high"] for attack in ATTACKS if attack in risk]
    return max(found) if found else None


def built(
    members: Sequence[Member], spec: ServiceSpec, before: Mapping[str, Floats], may_draw: bool = True, seed: int = 0
) -> Built:
    """Build the groups of members who are in batches.

    ``before`` are matrices handed out so far, by key: a group that has not changed keeps its matrix, noise included,
    since the mean of several draws would wear the noise off. Where private clusters have spent their budget
    (``may_draw`` false), changed groups are left out.
    """
    if not members:
        return Built((), {}, 0)
    records = np.array([member.published_matrix for member in members])
    profiles = np.array([member.published_profile for member in members])
    labels = _labels(members, profiles, spec)
    weights = _noise_weights(records, spec)
    groups, scales, draws = [], [], 0
    for label in range(labels.max() + 1):
        chosen = np.flatnonzero(labels == label)
        inside = [members[i] for i in chosen.tolist()]
        key = _key(spec, inside)
        matrix = before.get(key)
        made, scale = _made(records[chosen], spec, weights, draw=matrix is None and may_draw)
        if matrix is None and spec.is_noisy and not may_draw:
            continue
        draws += matrix is None and spec.is_noisy
        shown = np.round(made, _DIGITS) if matrix is None else matrix
        groups.append(SharedGroup(key, profiles[chosen].mean(axis=0), shown, tuple(m.agent for m in inside)))
        scales.append(scale)
    small = [group for group in groups if group.size < spec.minimum_group]
    if small:  # batches rule it out; should they ever fail, nothing small may leave
        raise AssertionError(f"a group of {small[0].size} was made, fewer than {spec.minimum_group}")
    return Built(tuple(groups), _risk(members, groups, scales, spec, seed), draws)


def _labels(members: Sequence[Member], profiles: Floats, spec: ServiceSpec) -> Ints:
    """Return the group of each member: every batch one group, all batches one, or batches clustered by mean profile."""
    step = spec.steps()[0]
    if not spec.aggregates:
        return np.arange(len(members), dtype=np.int64)
    _, batch = np.unique([member.batch for member in members], return_inverse=True)
    batch = batch.ravel()
    if isinstance(step, Clusters | PrivateClusters):
        centres = np.array([profiles[batch == b].mean(axis=0) for b in range(batch.max() + 1)])
        return clusters(centres, step.n)[batch] if len(centres) > step.n else batch
    return batch if step.word == "microaggregation" else np.zeros(len(members), dtype=np.int64)


def _made(records: Floats, spec: ServiceSpec, weights: dict[int, Floats], draw: bool) -> tuple[Floats, Floats]:
    """Return the matrix of a group, and the scale of the noise in its cells; nothing is drawn unless asked for."""
    matrix, scale = records.mean(axis=0), np.zeros(records.shape[1:])
    for number, step in enumerate(spec.steps()):
        if isinstance(step, PrivateClusters):
            sigma = private_sigma(step, spec.publications, *records.shape[:2])
            matrix, scale = (private_mean(records, sigma) if draw else matrix), np.hypot(scale, sigma / np.sqrt(2.0))
        elif isinstance(step, Laplace) and step.variance > 0:
            added = np.sqrt(step.variance / 2.0) * weights[number]
            matrix, scale = (matrix + laplace(added) if draw else matrix), np.hypot(scale, added)
        elif isinstance(step, TruncatedSVD):
            matrix = truncated(matrix[None], min(step.rank, len(matrix)))[0]
    return finished(started(matrix[None], 0)).records[0], scale


def _noise_weights(records: Floats, spec: ServiceSpec) -> dict[int, Floats]:
    steps = enumerate(spec.steps())
    return {number: cell_weights(records, step.weights) for number, step in steps if isinstance(step, Laplace)}


def _key(spec: ServiceSpec, members: Sequence[Member]) -> str:
    made_of = sorted([member.agent, _digest(member.published_matrix)] for member in members)
    return hashlib.sha256(json.dumps([spec.strategy, spec.publications, made_of]).encode()).hexdigest()


def _digest(matrix: Floats | None) -> str:
    return hashlib.sha256(np.ascontiguousarray(matrix).tobytes()).hexdigest()


def _risk(
    members: Sequence[Member], groups: Sequence[SharedGroup], scales: Sequence[Floats], spec: ServiceSpec, seed: int
) -> dict[str, Any]:
    """Measure how often an attacker who has every group's matrix finds the people behind them, by both attacks."""
    place = {agent: number for number, group in enumerate(groups) for agent in group.members}
    inside = [member for member in members if member.agent in place]
    if len(inside) < 2:
        return {}
    true = np.array([member.published_matrix for member in inside])
    group = np.array([place[member.agent] for member in inside], dtype=np.int64)
    handed = np.array([one.matrix for one in groups])
    shared = finished(Shared(handed[group], group, group, spec.steps(), np.mean(scales, axis=0)))
    cells = min(KNOWN if spec.known_cells is None else spec.known_cells, true.shape[1] ** 2 - 2)
    risk: dict[str, Any] = {"members": len(inside), "cells": cells, "guess": 1.0 / len(inside)}
    for attack in ATTACKS:
        found = deanonymisation(true, shared, cells, attack=attack, seed=seed)
        risk[attack] = {"rate": found.rate, "low": found.low, "high": found.high}
    return risk
