"""Reading and writing: tables of traces, top sets and bags, channels, vocabularies, true pairs, TFRecord files."""

import importlib
from typing import TYPE_CHECKING, Any

from reidrisk.io.atomic import write_atomically
from reidrisk.io.bags import read_bags, write_bags
from reidrisk.io.channel import read_channel
from reidrisk.io.convert import Converted, convert
from reidrisk.io.documents import read_vocabulary
from reidrisk.io.taxonomy import read_taxonomy
from reidrisk.io.tfrecord.topics_records import TopicsRecords, read_tfrecords, write_tfrecords
from reidrisk.io.traces import read_top_sets, read_traces, traces_from_frame, write_top_sets, write_traces

if TYPE_CHECKING:
    from reidrisk.io.exports import Export, Reading, read_export, read_exports
    from reidrisk.io.frames import bags_from_frame, pair_from_frames
    from reidrisk.io.pair import Pair, read_bags_pair, read_pair, read_truth

# Imported when first used: they need pydantic and polars, which a machine for fitting models may not have.
_LATER = dict.fromkeys(("Export", "Reading", "read_export", "read_exports"), "exports")
_LATER |= dict.fromkeys(("bags_from_frame", "pair_from_frames"), "frames")
_LATER |= dict.fromkeys(("Pair", "read_bags_pair", "read_pair", "read_truth"), "pair")

__all__ = ["Converted", "convert", "read_bags", "read_channel", "read_vocabulary", "write_atomically", "write_bags"]
__all__ += ["TopicsRecords", "read_taxonomy", "read_tfrecords", "write_tfrecords"]
__all__ += ["read_top_sets", "read_traces", "traces_from_frame", "write_top_sets", "write_traces"]
__all__ += ["Export", "Reading", "bags_from_frame", "pair_from_frames", "read_export", "read_exports"]
__all__ += ["Pair", "read_bags_pair", "read_pair", "read_truth"]


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_LATER[name]}"), name)


def __dir__() -> list[str]:
    return __all__
