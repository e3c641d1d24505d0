"""How attacks compare: every registered one on the same queries of each data set and setting."""

from reidrisk.bench.manifest import EMBEDDED, DataSet, Manifest, read_manifest
from reidrisk.bench.result import Assigned, Bench, Expected, Row, Standing, Used
from reidrisk.bench.run import BenchSpec, run
from reidrisk.bench.settings import SETTINGS
from reidrisk.bench.sources import Reader, Sites

__all__ = ["EMBEDDED", "DataSet", "Manifest", "Reader", "Sites", "read_manifest"]
__all__ += ["SETTINGS", "Assigned", "Bench", "BenchSpec", "Expected", "Row", "Standing", "Used", "run"]
