"""What the numbers of an audit of stored tables rest on."""

from typing import Any

from reidrisk.attacks.positional import PositionalAttack
from reidrisk.audit import plan
from reidrisk.audit.spec import AuditSpec
from reidrisk.audit.stored.rows import World
from reidrisk.base.notes import Note
from reidrisk.search.engines.aggregates import token_counts
from reidrisk.search.engines.relational import Relational


def stored_notes(
    world: World,
    spec: AuditSpec,
    engine: Relational,
    chosen: list[Any],
    joined: list[str],
    n_drawn: int,
    not_run: tuple[plan.NotRun, ...],
) -> tuple[Note, ...]:
    """Return what the numbers rest on."""
    tables, n_epochs = world.tables, world.tables.targets.n_epochs
    seen = {
        side: 1.0 - float(token_counts(world.session, side, n_epochs, one.n_tokens).sum()) / (len(one) * n_epochs)
        for side, one in (("targets", tables.targets), ("queries", tables.queries))
    }
    shards = [attack.name for attack in chosen if attack.name not in joined]
    notes = [
        Note("truth", origin=tables.origin),
        Note("closed-world"),
        spec.of_system(tables.targets.n_tokens),
        Note("vocabulary", n=tables.targets.n_tokens),
        Note("gaps", **seen) if any(seen.values()) else Note("all-observed", n=n_epochs),
        Note("stored-tables", engine=engine.name, joined=list(dict.fromkeys(joined)), shards=shards, drawn=n_drawn),
        Note("stored-left-out"),
        Note("people-independent"),
    ]
    if shards and len(world.taught[0]) < len(tables.targets):
        notes.append(Note("learnt-from-some", n=len(world.taught[0]), of=len(tables.targets)))
    if any(isinstance(attack, PositionalAttack) and attack.name in shards for attack in chosen):
        notes.append(Note("too-many-gaps", missing=seen["targets"], drawn=n_drawn))
    if shards and n_drawn < len(tables.queries):
        notes.append(Note("sample-drawn", n=n_drawn, of=len(tables.queries)))
    if len(world.drawn) < n_drawn:
        notes.append(Note("strangers-drawn", n=n_drawn - len(world.drawn), scored=len(world.drawn)))
    notes += [Note("attack-not-run", attack=one.attack, why=one.why) for one in not_run]
    return tuple(notes)
