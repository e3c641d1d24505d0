"""From one file format to another: TFRecord files into tables, and tables into each other."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from reidrisk.base import Note, OptionError, Spoken, Vocabulary
from reidrisk.io.atomic import PathLike
from reidrisk.io.bags import read_bags, write_bags
from reidrisk.io.tables.formats import ENDINGS, format_of, open_table
from reidrisk.io.tables.layouts import check_layout, holds_bags, holds_sets
from reidrisk.io.tfrecord.topics_records import TopicsRecords, is_tfrecord, read_tfrecords
from reidrisk.io.traces import read_top_sets, read_traces, write_top_sets, write_traces
from reidrisk.records import Bags, TopSets, Traces


@dataclass(frozen=True, eq=False)
class Converted(Spoken):
    """What was written, each with its file, and what was assumed; as text, one line."""

    written: tuple[tuple[str, str], ...]
    notes: tuple[Note, ...] = ()

    def __str__(self) -> str:
        return self.reading


def convert(
    sources: Sequence[PathLike],
    out: PathLike,
    layout: str | None = None,
    n_tokens: int | None = None,
    vocabulary: Vocabulary | None = None,
) -> Converted:
    r"""Convert TFRecord files, or one table, into a table of another format.

    ``sources`` are the TFRecord files of one data set, or one table of traces, top
    sets or bags; the ending of ``out`` tells the format. Of the simulator's records, the top sets are written to
    ``out``, the traces of the two observers beside it, with ``.client_1`` and ``.client_2`` before the ending, in the
    ``layout`` ``'wide'`` (the default) or ``'long'``.

    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "weeks.csv").write_text("user,epoch_0\nann,news\nbob,music\n")
    >>> convert([folder / "weeks.csv"], folder / "weeks.parquet").written[0][0]
    'Traces(2 users x 1 epochs, 2 tokens)'
    """
    format_of(out)
    check_layout(layout)
    if not sources:
        raise OptionError("there is no file to convert; name at least one")
    if all(is_tfrecord(source) for source in sources):
        return _write_records(read_tfrecords(sources, n_tokens, vocabulary), out, layout or "wide")
    if len(sources) > 1:
        raise OptionError(f"{len(sources)} files were given; only TFRecord files are joined, convert tables one by one")
    source = sources[0]
    table = open_table(source)
    records: TopSets | Bags | Traces
    if holds_sets(table):
        records = read_top_sets(source, n_tokens, vocabulary)
        write_top_sets(records, out)
    elif holds_bags(table):
        records = read_bags(source, n_tokens, vocabulary)
        write_bags(records, out)
    else:
        records = read_traces(source, None, n_tokens, vocabulary)
        write_traces(records, out, layout or "wide")
    return Converted(((repr(records), str(out)),))


def _write_records(records: TopicsRecords, out: PathLike, layout: str) -> Converted:
    path, written = Path(out), []
    ending = path.name[-max(len(ending) for ending in ENDINGS if path.name.lower().endswith(ending)) :]  # also .csv.gz
    if records.top_sets is not None:
        write_top_sets(records.top_sets, out)
        written.append((repr(records.top_sets), str(out)))
    for number, traces in ((1, records.client_1), (2, records.client_2)):
        if traces is not None:
            beside = path.with_name(f"{path.name[: -len(ending)]}.client_{number}{ending}")
            write_traces(traces, beside, layout)
            written.append((repr(traces), str(beside)))
    return Converted(tuple(written), records.notes)
