"""Reading a wide Parquet of 10 million users by 8 epochs: seconds and peak memory, beside polars and pyarrow."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

READERS = {
    "reidrisk.io.read_traces": "from reidrisk.io import read_traces; t = read_traces(path, n_tokens=469).tokens",
    "polars.read_parquet().to_numpy()": (
        "import polars; f = polars.read_parquet(path); t = f.drop('user', strict=False).to_numpy(); u = f['user']"
    ),
    "pyarrow read_table + column_stack": (
        "import numpy, pyarrow.parquet; f = pyarrow.parquet.read_table(path); "
        "t = numpy.column_stack([f[c].to_numpy() for c in f.column_names if c != 'user'])"
    ),
}
"""What is run in a process of its own; imports are not timed."""

CHILD = """
import json, resource, sys, time
path, code = sys.argv[1], sys.argv[2]
head = [part for part in code.split(";") if "import" in part]
exec(";".join(part.strip() for part in head))
start = time.perf_counter()
exec(";".join(part.strip() for part in code.split(";") if part not in head))
seconds = time.perf_counter() - start
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
print(json.dumps({"seconds": seconds, "peak_gib": peak, "shape": list(t.shape)}))
"""


def write_table(path: Path, users: int, epochs: int, ids: str) -> None:
    rng = np.random.default_rng(0)
    columns = [("user", pa.string() if ids == "text" else pa.int64())] if ids != "none" else []
    schema = pa.schema(columns + [(f"epoch_{e}", pa.int64()) for e in range(epochs)])
    with pq.ParquetWriter(path, schema) as writer:
        for start in range(0, users, 1 << 20):
            n = min(1 << 20, users - start)
            names = (np.arange(start, start + n) * 2654435761) % (1 << 40)  # distinct and out of order
            arrays = (
                [] if ids == "none" else [pa.array(names) if ids == "integer" else pa.array(names).cast(pa.string())]
            )
            arrays += [pa.array(rng.integers(469, size=n)) for _ in range(epochs)]
            writer.write_batch(pa.record_batch(arrays, schema=schema))


def measure(path: Path, code: str) -> dict[str, float]:
    done = subprocess.run([sys.executable, "-c", CHILD, str(path), code], capture_output=True, text=True, check=True)
    return dict(json.loads(done.stdout))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--users", type=int, default=10_000_000)
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--ids", choices=["integer", "text", "none"], default="integer")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "wide.parquet"
        write_table(path, options.users, options.epochs, options.ids)
        size = path.stat().st_size / 2**20
        print(f"{options.users:,} users x {options.epochs} epochs, {options.ids} ids, {size:,.0f} MiB of Parquet")
        results = {name: measure(path, code) for name, code in READERS.items()}
    ours = results["reidrisk.io.read_traces"]
    for name, result in results.items():
        print(
            f"{name:36s} {result['seconds']:6.2f} s  {result['peak_gib']:5.2f} GiB peak  "
            f"time x {result['seconds'] / ours['seconds']:.2f}  memory x {result['peak_gib'] / ours['peak_gib']:.2f}"
        )


if __name__ == "__main__":
    main()
