"""What the administrator sees: who shared, groups, the measured risk and its history; and the same for Prometheus."""

import json
import time
from typing import Any

from sqlalchemy import func, select

from reidrisk.bandits.linkage.measure import ATTACKS
from reidrisk.bandits.service.aggregates.groups import highest_risk
from reidrisk.bandits.service.ledger import first_broken
from reidrisk.bandits.service.snapshot import moment
from reidrisk.bandits.service.storage.schema import agents, codes, ledger, records, versions
from reidrisk.bandits.service.web.state import State

_HISTORY = 200  # versions shown


def overview(service: State) -> dict[str, Any]:
    """Return the state of the service in plain values; no matrix, no profile, no secret."""
    snapshot, spec = service.publisher.snapshot, service.spec
    with service.database.reading() as connection:
        rows = connection.execute(
            select(agents, records.c.revision, records.c.shared_at, records.c.withdrawn_at, records.c.batch)
            .outerjoin(records, agents.c.id == records.c.agent)
            .order_by(agents.c.enrolled_at)
        ).all()
        past = connection.execute(select(versions).order_by(versions.c.id.desc()).limit(_HISTORY)).all()
        unused = connection.execute(
            select(func.count()).select_from(codes).where(codes.c.used_at.is_(None), codes.c.expires_at > time.time())
        ).scalar()
        entries = connection.execute(select(func.max(ledger.c.id))).scalar() or 0
        broken = first_broken(connection)
    group = {agent: number for number, one in enumerate(snapshot.groups) for agent in one.members}
    return {
        "strategy": spec.strategy,
        "minimum_group": spec.minimum_group,
        "max_risk": spec.max_risk,
        "status": snapshot.status,
        "version": snapshot.version,
        "built_at": moment(snapshot.built_at),
        "next_rebuild": moment(service.publisher.next_rebuild()),
        "rebuild_seconds": round(service.publisher.seconds, 3),
        "risk": snapshot.risk or {},
        "groups": [{"number": number, "members": one.size} for number, one in enumerate(snapshot.groups)],
        "agents": [_agent(row, group.get(row.id)) for row in rows],
        "history": [
            {
                "version": row.id,
                "built_at": moment(row.built_at),
                "status": row.status,
                "members": row.members,
                "risk": json.loads(row.risk),
            }
            for row in reversed(past)
        ],
        "codes_unused": unused or 0,
        "ledger": {"entries": entries, "first_broken": broken},
    }


def _agent(row: Any, group: int | None) -> dict[str, Any]:
    if row.revision is None:
        state = "none"
    elif row.withdrawn_at is not None:
        state = "withdrawn"
    else:
        state = "included" if group is not None else "waiting"
    shared = None if row.shared_at is None else moment(row.shared_at)
    told = {"agent": row.id, "enrolled_at": moment(row.enrolled_at), "revoked": row.revoked_at is not None}
    return {**told, "state": state, "revision": row.revision or 0, "shared_at": shared, "group": group}


def metrics(service: State) -> str:
    """Return counters and gauges as Prometheus reads them."""
    snapshot, publisher = service.publisher.snapshot, service.publisher
    with service.database.reading() as connection:
        sharing = select(func.count()).select_from(records).where(records.c.matrix.is_not(None))
        members = connection.execute(sharing).scalar() or 0
    with service.lock:
        counts = dict(service.counts)
    lines = []

    def told(name: str, kind: str, about: str, values: dict[str, float]) -> None:
        lines.extend([f"# HELP reidrisk_{name} {about}", f"# TYPE reidrisk_{name} {kind}"])
        lines.extend(f"reidrisk_{name}{labels} {value:g}" for labels, value in values.items())

    for name in ("registered", "shared", "withdrawn", "fetched"):
        told(f"{name}_total", "counter", f"Requests answered since the start: {name}.", {"": counts.get(name, 0)})
    answers = {f'{{status="{name[7:]}"}}': float(n) for name, n in sorted(counts.items()) if name.startswith("status ")}
    told("responses_total", "counter", "Responses since the start, by status.", answers)
    told("members", "gauge", "Agents that share a record.", {"": members})
    told("groups", "gauge", "Groups that are handed out.", {"": len(snapshot.groups)})
    told("version", "gauge", "Number of the current version.", {"": snapshot.version})
    told("serving", "gauge", "1 where matrices are handed out.", {"": float(snapshot.status == "published")})
    told("rebuilding", "gauge", "1 during a rebuild.", {"": float(publisher.rebuilding)})
    told("rebuild_seconds", "gauge", "How long the last rebuild took.", {"": publisher.seconds})
    risk = snapshot.risk or {}
    rates = {f'{{attack="{attack}"}}': risk[attack]["rate"] for attack in ATTACKS if attack in risk}
    told("risk", "gauge", "Measured probability of de-anonymisation of what is handed out.", rates)
    highest = highest_risk(risk)
    told("risk_upper_end", "gauge", "Upper end of the strongest attack's.", {} if highest is None else {"": highest})
    return "\n".join(lines) + "\n"
