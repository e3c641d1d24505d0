"""The tables of the first version, and a ledger that the database itself lets nobody rewrite."""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

_SQLITE = (
    "CREATE TRIGGER ledger_no_{verb} BEFORE {verb} ON ledger "
    "BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END"
)
_POSTGRES_FUNCTION = (
    "CREATE FUNCTION ledger_refuse() RETURNS trigger AS $$ "
    "BEGIN RAISE EXCEPTION 'the ledger is append-only'; END $$ LANGUAGE plpgsql"
)
_POSTGRES = (
    "CREATE TRIGGER ledger_no_{verb} BEFORE {verb} ON ledger FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuse()"
)


def upgrade() -> None:
    """Make the tables; columns stand here as they were then, whatever ``schema`` says today."""
    text, number, time, data = sa.Text(), sa.Integer(), sa.Float(), sa.LargeBinary()
    digest, agent = sa.String(64), sa.String(16)

    def key(name: str, kind: Any) -> sa.Column[Any]:
        return sa.Column(name, kind, primary_key=True)

    def must(name: str, kind: Any) -> sa.Column[Any]:
        return sa.Column(name, kind, nullable=False)

    def may(name: str, kind: Any) -> sa.Column[Any]:
        return sa.Column(name, kind)

    op.create_table(
        "codes",
        key("digest", digest),
        must("issued_at", time),
        must("expires_at", time),
        may("used_at", time),
        may("agent", agent),
    )
    op.create_table(
        "agents",
        key("id", agent),
        must("digest", digest),
        must("enrolled_at", time),
        may("rotated_at", time),
        may("revoked_at", time),
    )
    op.create_table(
        "records",
        key("agent", agent),
        must("revision", number),
        must("shared_at", time),
        may("matrix", data),
        may("profile", data),
        may("withdrawn_at", time),
        must("withdrawals", number),
        may("batch", number),
        may("published_revision", number),
        may("published_matrix", data),
        may("published_profile", data),
        must("ever_published", sa.Boolean()),
    )
    op.create_table(
        "batches", key("id", number), must("size", number), must("made_at", time), may("dissolved_at", time)
    )
    op.create_table(
        "versions",
        key("id", number),
        must("built_at", time),
        must("status", sa.String(16)),
        must("strategy", text),
        must("members", number),
        must("changed", number),
        must("draws", number),
        must("risk", text),
    )
    op.create_table(
        "groups",
        key("version", number),
        key("number", number),
        must("key", digest),
        must("size", number),
        must("centre", data),
        must("matrix", data),
        must("members", text),
    )
    op.create_table("usage", key("agent", agent), key("day", number), key("what", digest))
    op.create_table(
        "replies",
        key("agent", agent),
        key("key", digest),
        must("digest", digest),
        must("status", number),
        must("body", text),
        must("at", time),
    )
    op.create_table(
        "ledger",
        key("id", number),
        must("at", time),
        must("actor", agent),
        must("action", sa.String(32)),
        must("detail", text),
        must("before", digest),
        must("digest", digest),
    )
    op.create_table("settings", key("name", digest), must("value", text))
    sqlite = op.get_bind().dialect.name == "sqlite"
    if not sqlite:
        op.execute(_POSTGRES_FUNCTION)
    for verb in ("UPDATE", "DELETE") if sqlite else ("UPDATE", "DELETE", "TRUNCATE"):
        op.execute((_SQLITE if sqlite else _POSTGRES).format(verb=verb))


def downgrade() -> None:
    """Refuse: nothing came before."""
    raise NotImplementedError("there is no earlier version; restore a backup instead")
