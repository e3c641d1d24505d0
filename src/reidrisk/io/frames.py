"""Records of frames in memory: whatever has the Arrow interface, through the same door as files."""

from typing import Any

from reidrisk.base.errors import DataError, OptionError
from reidrisk.io.exports import Reading, read_export, read_exports
from reidrisk.io.exports.pairs import read_pairs
from reidrisk.io.pair import Pair, paired
from reidrisk.records import Bags, Events


def bags_from_frame(frame: Any, reading: Reading | None = None, **said: Any) -> Bags:
    """Return what people did, and how often, of a frame of events or of lists; times are left out.

    What ``reading`` or the keywords, which are the fields of a :class:`Reading`, do not say is guessed.

    >>> bags = bags_from_frame({"customer": [7, 7, 9], "category": ["tea", "rum", "tea"]})
    >>> bags.vocabulary.labels, bags.counts.toarray().tolist()
    (('rum', 'tea'), [[1, 1], [0, 1]])
    """
    found = read_export(frame, _reading(reading, said))
    if isinstance(found.records, Events):
        return found.records.bags().with_notes((*found.records.notes, *found.notes))
    if not isinstance(found.records, Bags):
        kind = type(found.records).__name__
        raise DataError(f"{found.how['name']} is read as {kind}, not as events; say so with layout='log' and user=")
    return found.records


def pair_from_frames(a: Any, b: Any, truth: Any = None, reading: Reading | None = None, **said: Any) -> Pair[Any]:
    """Return two frames over one vocabulary, ``a`` known and ``b`` to identify; events become bags.

    ``truth`` is a frame or a file of true pairs (ids of ``a``, ids of ``b``). Default: equal ids.

    >>> shop = {"customer": [1, 1, 2], "item": ["tea", "rum", "ale"]}
    >>> bank = {"client": ["x", "y", "y"], "item": ["tea", "ale", "gin"]}
    >>> pair = pair_from_frames(shop, bank, truth={"shop": [1, 2], "bank": ["x", "y"]})
    >>> pair.matched.target.tolist(), pair.vocabulary.labels
    ([0, 1], ('ale', 'gin', 'rum', 'tea'))
    """
    one, two = read_exports(a, b, _reading(reading, said))
    made = [found.records.bags() if isinstance(found.records, Events) else found.records for found in (one, two)]
    notes = tuple(dict.fromkeys((one.how, *one.notes, two.how, *two.notes)))
    rows: Any = None
    if truth is not None:
        rows, more = read_pairs(truth, made[0].users, made[1].users)
        notes += more
    names = (one.how["name"], two.how["name"])
    return paired(made[0], made[1], made[0].vocabulary, notes, names, rows)


def _reading(reading: Reading | None, said: dict[str, Any]) -> Reading:
    if reading is not None and said:
        raise OptionError(f"give reading or {next(iter(said))}, not both")
    if reading is not None and not isinstance(reading, Reading):
        raise OptionError(f"reading must be a Reading, not a {type(reading).__name__}")
    return reading or Reading(**said)
