"""The published layout of a model's parameters: JSON of types, epochs, slots and topic ids."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from reidrisk.errors import FormatError, OptionError
from reidrisk.io.atomic import PathLike, write_atomically
from reidrisk.release.mixture import TypeMixture
from reidrisk.release.statement import PUBLISHED, PrivacyStatement
from reidrisk.vocabulary import Vocabulary

__all__ = ["read_parameters", "write_parameters"]


def write_parameters(model: TypeMixture, path: PathLike, ids: Sequence[int] | None = None) -> None:
    """Write the logits as the published code does: ``{"type 0": {"epoch 0": {"slot 0": {"1": 0.3, …}}}}``.

    The layout has no place for a privacy statement, so it goes into a file of its own beside it, named like it with
    ``.statement.json`` at the end.

    Parameters
    ----------
    model : TypeMixture
        With a privacy statement.
    path : str or path
        The file.
    ids : sequence of int, optional
        Topic id of each token; 0, 1, … unless told.
    """
    if model.statement is None:
        raise OptionError("the model has no privacy statement, so it is not written")
    keys = [str(number) for number in (range(model.n_tokens) if ids is None else ids)]
    if len(set(keys)) != model.n_tokens:
        raise OptionError(f"ids must be {model.n_tokens} different numbers, one a token, not {len(keys)}")
    with write_atomically(path) as temporary, open(temporary, "w", encoding="utf-8") as file:
        # One type at a time: the whole document as Python objects would take gigabytes.
        file.write("{")
        for number, logits in enumerate(model.theta):
            document = {
                f"epoch {epoch}": {
                    f"slot {slot}": dict(zip(keys, values, strict=True)) for slot, values in enumerate(slots)
                }
                for epoch, slots in enumerate(logits.astype(np.float64).tolist())
            }
            file.write(f"{', ' if number else ''}{json.dumps(f'type {number}')}: {json.dumps(document)}")
        file.write("}")
    with write_atomically(_statement_file(path)) as temporary:
        temporary.write_text(model.statement.to_json(), encoding="utf-8")


def read_parameters(
    path: PathLike,
    ids: Sequence[int] | None = None,
    vocabulary: Vocabulary | None = None,
    statement: PrivacyStatement | None = None,
) -> TypeMixture:
    """Read logits in the published layout.

    Parameters
    ----------
    path : str or path
        The file.
    ids : sequence of int, optional
        Topic ids in token order; those of the file, ascending, unless told. A model over other ids is refused.
    vocabulary : Vocabulary, optional
        Labels of the tokens; the ids unless told.
    statement : PrivacyStatement, optional
        What protects the people behind it; read from the file beside it, or else that of the published release.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "parameters.json"
    >>> write_parameters(TypeMixture(np.zeros((1, 2, 1, 3)), statement=PUBLISHED), file, ids=[1, 57, 243])
    >>> read_parameters(file).vocabulary.labels
    ('1', '57', '243')
    """
    try:
        document = json.loads(Path(path).read_text(encoding="utf-8"))
        types = [document[f"type {t}"] for t in range(len(document))]
        first = types[0]["epoch 0"]["slot 0"]
        keys = [str(number) for number in (sorted(map(int, first)) if ids is None else ids)]
        others = set(first).symmetric_difference(keys)
        if others:
            raise FormatError(f"{path}: topic id {min(others)} is not both in the model and in the vocabulary")
        theta = np.array(
            [
                [
                    [[slot[key] for key in keys] for slot in _in_order(epoch, "slot")]
                    for epoch in _in_order(one, "epoch")
                ]
                for one in types
            ],
            dtype=np.float32,
        )
    except FormatError:
        raise
    except OSError as error:
        raise FormatError(f"{path}: cannot be read: {error.strerror or error}") from error
    except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
        raise FormatError(f"{path}: it is not laid out as type, epoch, slot, topic id ({error!r})") from error
    if statement is None:
        beside = _statement_file(path)
        statement = PrivacyStatement.from_json(beside.read_text(encoding="utf-8")) if beside.is_file() else PUBLISHED
    return TypeMixture(theta, vocabulary or Vocabulary(keys), statement)


def _in_order(named: dict[str, Any], word: str) -> list[Any]:
    return [named[f"{word} {number}"] for number in range(len(named))]


def _statement_file(path: PathLike) -> Path:
    return Path(path).with_name(Path(path).name + ".statement.json")
