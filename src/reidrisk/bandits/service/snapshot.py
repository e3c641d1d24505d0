"""One version of what is handed out, whole: how it is made, read back, and answered from."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np
from sqlalchemy import Connection, select

from reidrisk.bandits.service.aggregates.groups import SharedGroup, highest_risk
from reidrisk.bandits.service.members import shape_of
from reidrisk.bandits.service.refusals import Refusal
from reidrisk.bandits.service.spec import ServiceSpec
from reidrisk.bandits.service.storage.schema import groups, unpacked, versions
from reidrisk.bandits.sharing.strategies import Neighbour
from reidrisk.base.arrays import Floats

PUBLISHED, REFUSED, FAILED, EMPTY = "published", "refused", "failed", "empty"


@dataclass(frozen=True, eq=False)
class Snapshot:
    """One version, whole: what requests are answered from."""

    version: int
    status: str
    built_at: float
    groups: tuple[SharedGroup, ...] = ()
    centres: Floats | None = None  # (groups, p)
    bodies: tuple[bytes, ...] = ()  # the answer that each group gives, written once
    risk: dict[str, Any] | None = None

    def answer(self, profile: Floats, spec: ServiceSpec, agent: str) -> bytes:
        """Return the answer for this metadata: that of the nearest group, or of the neighbour asked for."""
        if self.status == REFUSED:
            limit = f"the measured risk exceeds the limit of {spec.max_risk:g}"
            raise Refusal(503, "risk-too-high", f"{limit}; nothing is handed out", spec.rebuild_every)
        if self.status == FAILED:
            raise Refusal(503, "rebuild-failed", "the last rebuild failed; nothing is handed out", spec.rebuild_every)
        if self.centres is None or not len(self.centres):
            few = f"no group of {spec.minimum_group} members exists yet"
            raise Refusal(503, "no-group", f"{few}; share, and try again later", spec.rebuild_every)
        distance = ((self.centres - profile) ** 2).sum(axis=1)
        step, order = spec.steps()[0], 1
        if isinstance(step, Neighbour):
            order = step.order
            own = [number for number, group in enumerate(self.groups) if group.members == (agent,)]
            distance[own] = np.inf
        if order > np.isfinite(distance).sum():
            raise Refusal(503, "no-group", f"there is no neighbour {order} yet; try again later", spec.rebuild_every)
        return self.bodies[int(np.argsort(distance, kind="stable")[order - 1])]


def snapshot_of(
    version: int, status: str, at: float, found: tuple[SharedGroup, ...], risk: dict[str, Any], spec: ServiceSpec
) -> Snapshot:
    """Return a version of these groups, with the answer of each written out."""
    bodies = [
        json.dumps(
            {
                "version": version,
                "built_at": moment(at),
                "strategy": spec.strategy,
                "members_at_least": spec.minimum_group,
                "matrix": group.matrix.tolist(),
            }
        ).encode()
        for group in found
    ]
    centres = np.array([group.centre for group in found]) if found else None
    return Snapshot(version, status, at, found, centres, tuple(bodies), risk)


def loaded(connection: Connection, spec: ServiceSpec) -> Snapshot:
    """Return the version that was written last."""
    shape = shape_of(connection)
    last = connection.execute(select(versions).order_by(versions.c.id.desc()).limit(1)).one_or_none()
    if last is None or shape is None:
        return Snapshot(0, EMPTY, 0.0)
    rows = connection.execute(select(groups).where(groups.c.version == last.id).order_by(groups.c.number))
    found = tuple(
        SharedGroup(
            row.key, unpacked(row.centre, shape[1])[0], unpacked(row.matrix, shape[0]), tuple(json.loads(row.members))
        )
        for row in rows
    )
    # What another strategy or a smaller minimum made must not be handed out under this one.
    fits = last.strategy == spec.strategy and all(group.size >= spec.minimum_group for group in found)
    status = last.status if fits else FAILED
    risk = json.loads(last.risk)
    if status != FAILED:  # the limit may be another one than when it was built
        status = status_by(spec.max_risk, found, risk)
    return snapshot_of(last.id, status, last.built_at, found if fits else (), risk, spec)


def moment(seconds: float) -> str:
    """Return a time as text.

    >>> moment(0.0)
    '1970-01-01T00:00:00+00:00'
    """
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def status_by(limit: float | None, found: Sequence[SharedGroup], risk: dict[str, Any]) -> str:
    """Return whether groups are handed out: the upper end of their risk is within a limit; not measured, it is not."""
    if limit is None or not found:
        return PUBLISHED
    highest = highest_risk(risk)
    return PUBLISHED if highest is not None and highest <= limit else REFUSED
