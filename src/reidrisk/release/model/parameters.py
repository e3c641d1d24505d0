"""The published layout of a model's parameters: JSON of types, epochs, slots and topic ids."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from reidrisk.base import DataError, FormatError, OptionError, Vocabulary
from reidrisk.io.atomic import PathLike, is_stream, write_atomically, write_text
from reidrisk.io.documents import read_json
from reidrisk.io.together import current, write_together
from reidrisk.populations.type_mixture import FitReport, TypeMixture
from reidrisk.privacy import PrivacyStatement


def write_parameters(model: TypeMixture, path: PathLike, ids: Sequence[int] | None = None) -> None:
    """Write the logits as the published code does: ``{"type 0": {"epoch 0": {"slot 0": {"1": 0.3, …}}}}``.

    The privacy statement, labels and the report of the fit go into a file beside it, named like it with
    ``.statement.json`` at the end; without it no model is read. ``ids`` are the topic ids of the tokens; default:
    0, 1, …
    """
    if model.statement is None:
        raise OptionError("the model has no privacy statement, so it is not written")
    keys = [str(number) for number in (range(model.n_tokens) if ids is None else ids)]
    if len(set(keys)) != model.n_tokens:
        raise OptionError(f"ids must be {model.n_tokens} different numbers, one per token, not {len(keys)}")
    labels = None if model.vocabulary is None else dict(zip(keys, model.vocabulary.labels, strict=True))
    fit = None if model.report is None else model.report.to_dict()
    beside = {"privacy": model.statement.to_dict(), "labels": labels, "fit": fit}
    text = json.dumps(beside, ensure_ascii=False, allow_nan=False)
    path, stated = Path(path), _statement_file(path)
    if is_stream(path):  # holds no old model, and is written into
        write_text(text, stated)
        with write_atomically(path) as temporary:
            _write_logits(temporary, model, keys)
        return
    # A new model must never stand beside the statement of an old one, nor the other way round.
    with write_together(path.parent, path.name, (path.name, stated.name)) as new:
        _write_logits(new / path.name, model, keys)
        (new / stated.name).write_text(text, encoding="utf-8")


def _write_logits(path: Path, model: TypeMixture, keys: list[str]) -> None:
    with open(path, "w", encoding="utf-8") as file:
        # One type at a time: the whole document as Python objects would take gigabytes.
        file.write("{")
        for number, logits in enumerate(model.theta):
            document = {}
            for epoch, slots in enumerate(logits.astype(np.float64).tolist()):
                named = {f"slot {slot}": dict(zip(keys, values, strict=True)) for slot, values in enumerate(slots)}
                document[f"epoch {epoch}"] = named
            file.write(f"{', ' if number else ''}{json.dumps(f'type {number}')}: {json.dumps(document)}")
        file.write("}")


def read_parameters(
    path: PathLike,
    ids: Sequence[int] | None = None,
    vocabulary: Vocabulary | None = None,
    statement: PrivacyStatement | None = None,
) -> TypeMixture:
    """Read logits in the published layout.

    Tokens are the ``ids`` in their order (default: those of the file, ascending; a model over others is refused), named
    by ``vocabulary`` (default: as in the file beside it, or by their ids). Without a ``statement``, or one in the file
    beside it, nothing is read; for the parameters that dick's authors published it is :data:`PUBLISHED`.

    >>> import tempfile
    >>> from reidrisk.release import PUBLISHED
    >>> file = Path(tempfile.mkdtemp()) / "parameters.json"
    >>> write_parameters(TypeMixture(np.zeros((1, 2, 1, 3)), statement=PUBLISHED), file, ids=[1, 57, 243])
    >>> read_parameters(file).vocabulary.labels
    ('1', '57', '243')
    """
    try:
        types = _in_order(read_json(_part(path, Path(path).name)), "type")
        first = types[0]["epoch 0"]["slot 0"]
        keys = [str(number) for number in (sorted(map(int, first)) if ids is None else ids)]
        others = set(first).symmetric_difference(keys)
        if others:
            raise FormatError(f"{path}: topic id {min(others)} is not both in the model and in the vocabulary")
        values = [
            [[[slot[key] for key in keys] for slot in _in_order(epoch, "slot")] for epoch in _in_order(one, "epoch")]
            for one in types
        ]
        with np.errstate(over="ignore"):  # what is too large becomes infinite, and is refused with its place
            theta = np.array(values, dtype=np.float32)
    except FormatError:
        raise
    except (ValueError, KeyError, TypeError, IndexError, AttributeError, OverflowError) as error:
        raise FormatError(f"{path}: it is not laid out as type, epoch, slot, topic id ({error!r})") from error
    stated = _statement_file(path)
    known = _read_beside(_part(path, stated.name))
    if statement is None:
        if known is None:
            advice = "fit it again, or say it in Python: read_parameters(path, statement=...)"
            raise FormatError(f"{path}: nothing says what protects people: {stated.name} is not beside it; {advice}")
        statement = PrivacyStatement.from_document(str(stated), known.get("privacy"))
    labels, report = (None, None) if known is None else (known.get("labels"), known.get("fit"))
    try:
        named = keys if labels is None else [labels[key] for key in keys]
        fitted = None if report is None else FitReport.from_dict(report)
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        raise FormatError(f"{stated}: its labels or its fit are damaged ({error!r}); write the model again") from error
    try:
        return TypeMixture(theta, vocabulary or Vocabulary(named), statement, fitted)
    except DataError as error:
        raise FormatError(f"{path}: {error}") from error


def _read_beside(path: Path) -> dict[str, Any] | None:
    if not path.is_file():
        return None
    document = read_json(path, "a privacy statement")
    if not isinstance(document, dict):
        raise FormatError(f"{path}: it is no privacy statement; write the model again")
    return document


def _in_order(named: dict[str, Any], word: str) -> list[Any]:
    return [named[f"{word} {number}"] for number in range(len(named))]


def _part(path: PathLike, name: str) -> Path:
    return current(Path(path).parent, Path(path).name, name)


def _statement_file(path: PathLike) -> Path:
    return Path(path).with_name(Path(path).name + ".statement.json")
