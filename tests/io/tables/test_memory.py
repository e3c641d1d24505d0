"""Ten million users must fit: at a tenth of the size, reading stays within a few times the array it returns."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

CHILD = """
import resource, sys
from reidrisk.io import read_traces
import pyarrow.parquet, numpy
base = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
traces = read_traces(sys.argv[1], n_tokens=469)
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
assert traces.tokens.shape == (1_000_000, 8) and traces.tokens.dtype == numpy.int16, traces
print((peak - base) / 1024)
"""


@pytest.mark.parametrize(("ids", "limit"), [("integer", 130), ("text", 300)])
def test_reading_a_million_users_takes_little_memory(tmp_path: Path, ids: str, limit: int) -> None:
    n = 1_000_000
    rng = np.random.default_rng(0)
    users = pa.array(np.arange(n) * 7 + 1_000_000)
    columns = {"user": users if ids == "integer" else users.cast(pa.string())}
    columns |= {f"epoch_{e}": pa.array(rng.integers(469, size=n)) for e in range(8)}
    pq.write_table(pa.table(columns), tmp_path / "t.parquet", row_group_size=1 << 17)
    done = subprocess.run(
        [sys.executable, "-c", CHILD, str(tmp_path / "t.parquet")], capture_output=True, text=True, check=True
    )
    # The tokens take 16 MB and the ids 8 MB (integers) or 15 MB (text); the table as 64-bit columns would be 72 MB.
    assert float(done.stdout) < limit
