"""Statistics in files: the published JSON layout, and a folder of it with the privacy statement."""

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from reidrisk.base import Array, Floats, FormatError, OptionError, ReidRiskError, SizeError, is_whole, sizes, whole
from reidrisk.base.vocabulary import Vocabulary
from reidrisk.io.atomic import PathLike
from reidrisk.io.documents import read_json, read_npz
from reidrisk.io.together import current, write_together
from reidrisk.privacy import PUBLISHED, PrivacyStatement
from reidrisk.release.counts.pairs import PairCounts
from reidrisk.release.counts.statistics import Statistics

WITHIN = ("topic_1", "topic_2")
ACROSS = ("week_1_topic", "week_2_topic")
_KEY = "statistics"
_FILES = ("q_within.json", "q_across.json", "taxonomy.json", "counts.npz", "statement.json")


def write_statistics(statistics: Statistics, folder: PathLike, ids: Sequence[int] | None = None) -> None:
    """Write a folder: ``q_within.json``, ``q_across.json``, ``taxonomy.json``, ``statement.json``, ``counts.npz``.

    The first three are laid out as the published ones (a list of records; every unordered pair once); ``counts.npz``
    holds the noisy counts, where there are any. Whatever happens on the way, the folder holds the old statistics or the
    new ones. Exact statistics are private and refused. ``ids`` are the numbers of the tokens in the files; default:
    0, 1, …

    >>> import tempfile
    >>> from reidrisk import TopSets, release
    >>> sets = TopSets([[[0, 1], [0, 2]]] * 50_000, n_tokens=3)
    >>> folder = tempfile.mkdtemp()
    >>> write_statistics(release.statistics(sets, epsilon=1.0, delta=1e-6), folder)
    >>> read_statistics(folder)
    Statistics(3 tokens, sets of 2, epsilon 1, delta 1e-06)
    """
    if statistics.statement is None:
        raise OptionError("exact statistics are private and are not written; release.statistics adds the noise")
    folder, n = Path(folder), statistics.n_tokens
    numbers = list(range(n)) if ids is None else [int(number) for number in ids]
    if len(numbers) != n or len(set(numbers)) != n:
        raise OptionError(f"ids must be {n} different numbers, one per token, not {len(numbers)}")
    words = statistics.vocabulary
    labels = [str(token) for token in range(n)] if words is None else list(words.labels)
    taxonomy = [{"topic_id": i, "topic_label": label} for i, label in zip(numbers, labels, strict=True)]
    document = {
        "k": statistics.k,
        "n_tokens": n,
        "n_epochs": statistics.n_epochs,
        "estimated_users": None if math.isnan(statistics.n_users) else statistics.n_users,
        "labelled": statistics.vocabulary is not None,
        "privacy": statistics.statement.to_dict(),
    }
    every = tuple(index.ravel() for index in np.indices((n, n)))
    with write_together(folder, _KEY, _FILES) as new:
        _write_json(new / "q_within.json", _records(WITHIN, np.triu_indices(n, 1), statistics.within, numbers, labels))
        _write_json(new / "q_across.json", _records(ACROSS, every, statistics.across, numbers, labels))
        _write_json(new / "taxonomy.json", taxonomy)
        if statistics.counts is not None:
            with open(new / "counts.npz", "wb") as file:
                np.savez_compressed(file, allow_pickle=False, **dict(statistics.counts.tables))
        _write_json(new / "statement.json", document)


def holds_statistics(folder: PathLike) -> bool:
    """Tell whether a folder holds statistics with their statement."""
    return current(Path(folder), _KEY, "statement.json").exists()


def read_statistics(folder: PathLike) -> Statistics:
    """Read what :func:`write_statistics` wrote; a folder without a privacy statement is refused."""
    folder = Path(folder)
    if not folder.is_dir():
        raise FormatError(f"{folder}: there is no such folder; give the one that the statistics were written to")
    within, across, taxonomy, tables, file = (current(folder, _KEY, name) for name in _FILES)
    if not file.is_file():
        advice = "measure them again, or read files published elsewhere with read_published"
        raise FormatError(f"{folder}: nothing says what protects people, since there is no statement.json; {advice}")
    document = read_json(file)
    if not isinstance(document, dict) or not _is_count(document.get("k"), 1):
        raise FormatError(f"{file}: it is no statement of released statistics with a size of sets, k; write it again")
    statement = PrivacyStatement.from_document(str(file), document.get("privacy"))
    users: Any = document.get("estimated_users")
    epochs = document.get("n_epochs")
    # JSON may have a number of a thousand digits, which no float can hold.
    finite = math.isfinite(users) if isinstance(users, float) else is_whole(users) and abs(users) < 2**63
    if not (epochs is None or _is_count(epochs, 2)) or not (users is None or finite):
        raise FormatError(f"{file}: n_epochs {epochs!r} or estimated_users {users!r} is damaged; write it again")
    found = read_published(within, across, taxonomy, document["k"], statement)
    counts, n = None, found.n_tokens
    if epochs is not None and tables.is_file():
        noisy = read_arrays(tables, f"{tables}: the noisy counts cannot be read, write the folder again")
        for name, table in noisy.items():
            if table.shape != (n, n) or table.dtype.kind not in "iuf" or not np.isfinite(table).all():
                raise FormatError(f"{tables}: {name} is no table of {n} x {n} counts; write the folder again")
        counts = PairCounts(noisy, document["k"], n, epochs)
    if read_json(current(folder, _KEY, _FILES[-1])) != document:
        raise FormatError(f"{folder}: the statistics were replaced while they were read; read them again")
    vocabulary = found.vocabulary if document.get("labelled") else None
    n_users = math.nan if users is None else float(users)
    return Statistics(found.single, found.within, found.across, found.k, statement, vocabulary, n_users, counts, epochs)


def read_published(
    within: PathLike,
    across: PathLike,
    taxonomy: PathLike | None = None,
    k: int = 5,
    statement: PrivacyStatement | None = None,
) -> Statistics:
    """Read statistics in the published layout.

    Records of ``q_within.json`` have ``topic_1_id``, ``topic_2_id`` and ``frequency``, those of ``q_across.json``
    ``week_1_topic_id``, ``week_2_topic_id`` and ``frequency``. A pair within a week may come in either order, or in
    both with the same frequency; one that is missing has the frequency 0. ``taxonomy`` has records of ``topic_id`` and
    ``topic_label`` in token order; default: the ids in the files, ascending. ``statement`` is what its authors state;
    default: :data:`PUBLISHED`.
    """
    k = whole("k", k)
    pairs, steps = _read_records(Path(within), WITHIN), _read_records(Path(across), ACROSS)
    ids, labels = _taxonomy(taxonomy, [pairs, steps])
    sizes.NUMBERS.check(len(ids) ** 2, str(within if taxonomy is None else taxonomy), "list fewer tokens")
    place = {number: token for token, number in enumerate(ids)}
    q_within, q_across = _table(Path(within), pairs, place, True), _table(Path(across), steps, place, False)
    if k > len(ids):
        raise FormatError(f"{within}: there are {len(ids)} tokens, fewer than the {k} of a set")
    single = q_within.sum(axis=1) / (k - 1) if k > 1 else (q_across.sum(axis=0) + q_across.sum(axis=1)) / 2.0
    return Statistics(np.minimum(single, 1.0), q_within, q_across, k, statement or PUBLISHED, Vocabulary(labels))


def _records(
    names: tuple[str, str], where: tuple[Any, ...], table: Floats, ids: list[int], labels: list[str]
) -> list[dict[str, Any]]:
    keys = (*(f"{name}_{what}" for name in names for what in ("id", "label")), "frequency")
    return [
        dict(zip(keys, (ids[a], labels[a], ids[b], labels[b], value), strict=True))
        for a, b, value in zip(*(index.tolist() for index in where), table[where].tolist(), strict=True)
    ]


Records = list[tuple[int, int, float]]


def _read_records(path: Path, names: tuple[str, str]) -> Records:
    one, two = (f"{name}_id" for name in names)
    document = read_json(path)
    if not isinstance(document, list):
        raise FormatError(f"{path}: it is no list of records; write it with orient='records'")
    found = []
    for row, record in enumerate(document):
        try:
            value = float(record["frequency"])
            found.append((int(record[one]), int(record[two]), value))
        except (TypeError, KeyError, ValueError, OverflowError) as error:
            raise FormatError(f"{path}: record {row} has no {one}, {two} and frequency, all numbers") from error
        if not 0.0 <= value <= 1.0:
            raise FormatError(f"{path}: record {row} has the frequency {value}; a share of users is from 0 to 1")
    return found


def _taxonomy(path: PathLike | None, tables: list[Records]) -> tuple[list[int], list[str]]:
    if path is None:
        ids = sorted({number for records in tables for a, b, _ in records for number in (a, b)})
        return ids, [str(number) for number in ids]
    document = read_json(Path(path))
    try:
        entries = [(int(entry["topic_id"]), str(entry["topic_label"])) for entry in document]
    except (TypeError, KeyError, ValueError, OverflowError) as error:
        raise FormatError(f"{path}: it is no list of records with topic_id and topic_label") from error
    ids = [number for number, _ in entries]
    if len(set(ids)) != len(ids):
        raise FormatError(f"{path}: a topic_id stands there twice; every token has its own")
    return ids, [label for _, label in entries]


def _table(path: Path, records: Records, place: dict[int, int], symmetric: bool) -> Floats:
    table = np.full((len(place), len(place)), np.nan)
    for row, (a, b, value) in enumerate(records):
        if a not in place or b not in place:
            stray = a if a not in place else b
            raise FormatError(f"{path}: record {row} has id {stray}, which the taxonomy does not list")
        one, two = place[a], place[b]
        if symmetric and one == two:
            raise FormatError(f"{path}: record {row} pairs id {a} with itself; a set holds a token once")
        known = table[one, two]
        if not math.isnan(known) and (not symmetric or known != value):
            raise FormatError(f"{path}: record {row} gives the pair {a}, {b} again; every pair has one frequency")
        table[one, two] = value
        if symmetric:
            # Either order names the same pair: taking only one of them loses frequencies without a word.
            table[two, one] = value
    return np.asarray(np.nan_to_num(table, nan=0.0))


def read_arrays(path: Path, complaint: str) -> dict[str, Array]:
    """Read all arrays of an NPZ file; whatever is wrong with it is one line that begins with ``complaint``."""
    try:
        return read_npz(path)
    except SizeError:
        raise
    except ReidRiskError as error:
        raise FormatError(f"{complaint} ({str(error).removeprefix(f'{path}: ')})") from error


def _is_count(value: Any, least: int) -> bool:
    return is_whole(value) and least <= value < 2**31


def _write_json(path: Path, document: object) -> None:
    path.write_text(json.dumps(document, ensure_ascii=False, allow_nan=False), encoding="utf-8")
