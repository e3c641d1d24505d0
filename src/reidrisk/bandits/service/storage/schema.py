"""The tables of the service, as this version has them; ``migrations`` leads there from any earlier one.

Times are seconds since 1970. Matrices and profiles are float64 in the byte order of the file: little-endian.
"""

import numpy as np
from sqlalchemy import Column, Float, Integer, LargeBinary, MetaData, String, Table, Text

from reidrisk.base.arrays import Floats

metadata = MetaData()

codes = Table(
    "codes",
    metadata,
    Column("digest", String(64), primary_key=True),
    Column("issued_at", Float, nullable=False),
    Column("expires_at", Float, nullable=False),
    Column("used_at", Float),
    Column("agent", String(16)),
)

agents = Table(
    "agents",
    metadata,
    Column("id", String(16), primary_key=True),
    Column("digest", String(64), nullable=False),
    Column("enrolled_at", Float, nullable=False),
    Column("rotated_at", Float),
    Column("revoked_at", Float),
)

# One row per agent that ever shared. A withdrawn record leaves its row without the matrix.
records = Table(
    "records",
    metadata,
    Column("agent", String(16), primary_key=True),
    Column("revision", Integer, nullable=False),
    Column("shared_at", Float, nullable=False),
    Column("matrix", LargeBinary),
    Column("profile", LargeBinary),
    Column("withdrawn_at", Float),
    Column("withdrawals", Integer, nullable=False, default=0),
    Column("batch", Integer),
    Column("published_revision", Integer),
    Column("published_matrix", LargeBinary),
    Column("published_profile", LargeBinary),
)

batches = Table(
    "batches",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("size", Integer, nullable=False),
    Column("made_at", Float, nullable=False),
    Column("dissolved_at", Float),
)

# Who was ever in which batch. It outlives batches and records: what was handed out of them stays known.
memberships = Table(
    "memberships",
    metadata,
    Column("batch", Integer, primary_key=True),
    Column("agent", String(16), primary_key=True),
)

versions = Table(
    "versions",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("built_at", Float, nullable=False),
    Column("status", String(16), nullable=False),
    Column("strategy", Text, nullable=False),
    Column("members", Integer, nullable=False),
    Column("changed", Integer, nullable=False),
    Column("draws", Integer, nullable=False),
    Column("risk", Text, nullable=False),
)

groups = Table(
    "groups",
    metadata,
    Column("version", Integer, primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("key", String(64), nullable=False),
    Column("size", Integer, nullable=False),
    Column("centre", LargeBinary, nullable=False),
    Column("matrix", LargeBinary, nullable=False),
    Column("members", Text, nullable=False),
)

usage = Table(
    "usage",
    metadata,
    Column("agent", String(16), primary_key=True),
    Column("day", Integer, primary_key=True),
    Column("what", String(64), primary_key=True),
)

replies = Table(
    "replies",
    metadata,
    Column("agent", String(16), primary_key=True),
    Column("key", String(64), primary_key=True),
    Column("digest", String(64), nullable=False),
    Column("status", Integer, nullable=False),
    Column("body", Text, nullable=False),
    Column("at", Float, nullable=False),
)

ledger = Table(
    "ledger",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("at", Float, nullable=False),
    Column("actor", String(16), nullable=False),
    Column("action", String(32), nullable=False),
    Column("detail", Text, nullable=False),
    Column("before", String(64), nullable=False),
    Column("digest", String(64), nullable=False),
)

settings = Table(
    "settings",
    metadata,
    Column("name", String(64), primary_key=True),
    Column("value", Text, nullable=False),
)


def packed(values: Floats) -> bytes:
    """Return numbers as the bytes that a column holds.

    >>> unpacked(packed(np.array([[0.25, 0.75], [1.0, 0.0]])), 2).tolist()
    [[0.25, 0.75], [1.0, 0.0]]
    """
    return np.ascontiguousarray(values, dtype="<f8").tobytes()


def unpacked(data: bytes, width: int) -> Floats:
    """Return what :func:`packed` wrote, in rows of ``width`` numbers."""
    return np.frombuffer(data, dtype="<f8").astype(np.float64).reshape(-1, width)
