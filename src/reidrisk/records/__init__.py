"""The records everything speaks of: events, traces, bags, attributes, vectors and others; who is whom; cases."""

from reidrisk.records.attributes import Attributes
from reidrisk.records.bags import Bags
from reidrisk.records.case import Case
from reidrisk.records.cells import Cells
from reidrisk.records.channel import Channel
from reidrisk.records.events import Events
from reidrisk.records.raw import RawTable
from reidrisk.records.registry import Entry, kind_of, register, registry
from reidrisk.records.several import Several
from reidrisk.records.top_sets import TopSets
from reidrisk.records.traces import Traces
from reidrisk.records.truth import Truth, find_truth
from reidrisk.records.vectors import Vectors
from reidrisk.records.visits import Visits

__all__ = ["Attributes", "Bags", "Case", "Cells", "Channel", "Entry", "Events", "Several", "TopSets", "Traces"]
__all__ += ["RawTable", "Truth", "Vectors", "Visits", "find_truth", "kind_of", "register", "registry"]
