"""Who was ever in which batch, in place of whether somebody was ever published."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

_PRESENT = "INSERT INTO memberships (batch, agent) SELECT batch, agent FROM records WHERE batch IS NOT NULL"

# Members of batches that were dissolved were not written down, and where there are such batches, everybody may have
# been one of them. A batch of one's own, without the members that a return must leave behind, keeps what is published
# of them as it is.
_PAST = (
    "INSERT INTO memberships (batch, agent) SELECT -ROW_NUMBER() OVER (ORDER BY agent), agent FROM records "
    "WHERE ever_published AND (batch IS NULL OR EXISTS (SELECT 1 FROM batches WHERE dissolved_at IS NOT NULL))"
)


def upgrade() -> None:
    """Make the table, and fill it as far as the tables before say who was where."""
    number, agent = sa.Integer(), sa.String(16)
    columns = sa.Column("batch", number, primary_key=True), sa.Column("agent", agent, primary_key=True)
    op.create_table("memberships", *columns)
    op.execute(_PRESENT)
    op.execute(_PAST)
    op.drop_column("records", "ever_published")


def downgrade() -> None:
    """Refuse: who was in which batch would be lost."""
    raise NotImplementedError("the version before cannot keep what this one promises; restore a backup instead")
