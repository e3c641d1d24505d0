"""The records everything speaks of: traces, top sets, bags, cells, channels; and who is whom in them."""

from reidrisk.records.bags import Bags
from reidrisk.records.cells import Cells
from reidrisk.records.channel import Channel
from reidrisk.records.top_sets import TopSets
from reidrisk.records.traces import Traces
from reidrisk.records.truth import Truth, find_truth

__all__ = ["Bags", "Cells", "Channel", "TopSets", "Traces", "Truth", "find_truth"]
