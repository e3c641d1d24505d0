"""Damage to JSON: other types, missing names, huge numbers, deep nesting; also inside text that is JSON."""

from __future__ import annotations

import copy
import json
import random
from typing import Any

from fuzz.hostile import hostile_text

__all__ = ["json_lines", "json_text", "text_that_may_be_json"]

_RAW = "@raw:"  # a string that begins with it becomes what follows, without its quotes
_VALUES = (
    None, True, False, 0, -1, 1, 2, 3.5, -0.0, 1e308, 2**31, 2**63, 2**64, 10**30, 1e-320, "", "x", [], {}, [[]],
    [None], {"": None}, [1, "a", None], "\x1b[31m", "[/x]", "[link=http://x]y", "a\nb", "\u202e", "\x00", "x" * 5000,
    _RAW + "NaN", _RAW + "Infinity", _RAW + "-Infinity", _RAW + "1e999", _RAW + "9" * 400, _RAW + "7" * 5000,
    _RAW + "[" * 300 + "]" * 300, _RAW + "[" * 200_000, _RAW + '"\\ud800"', _RAW + "01", _RAW + '{"a": 1, "a": 2}',
)  # fmt: skip


def json_text(rng: random.Random, data: bytes) -> bytes:
    """Change a document at one to three places."""
    document = json.loads(data)
    for _ in range(rng.choice((1, 1, 1, 1, 2))):
        document = mutated_value(rng, document)
    return dumped(rng, document).encode("utf-8", "surrogatepass")


def text_that_may_be_json(rng: random.Random, text: str) -> str:
    """Change what is inside, or be something else."""
    try:
        return json_text(rng, text.encode()).decode("utf-8", "replace")
    except (ValueError, RecursionError):
        return hostile_text(rng)


def json_lines(rng: random.Random, data: bytes) -> bytes:
    """Change one of the documents of a file that has one a line."""
    found = data.split(b"\n")
    at = rng.randrange(len(found))
    found[at] = json_text(rng, found[at]) if found[at] else b"{}"
    return b"\n".join(found)


def dumped(rng: random.Random, document: Any) -> str:
    """Write the document; marked strings are written as they are."""
    text = json.dumps(document, ensure_ascii=rng.random() < 0.5)
    parts = text.split('"' + _RAW)
    for number, part in enumerate(parts[1:], start=1):
        raw, end = json.decoder.scanstring(part, 0)  # type: ignore[attr-defined]
        parts[number] = raw + part[end:]
    return "".join(parts)


def mutated_value(rng: random.Random, document: Any) -> Any:
    """Return the document with one of its parts changed."""
    where = _places(document)
    if not where or rng.random() < 0.03:
        return copy.deepcopy(rng.choice(_VALUES))
    holder, key = rng.choice(where)
    kind = rng.random()
    old = holder[key]
    if isinstance(old, str) and old[:1] in ("{", "[") and kind < 0.9:
        try:
            holder[key] = dumped(rng, mutated_value(rng, json.loads(old)))
            return document
        except (ValueError, RecursionError):
            pass
    if kind < 0.5:
        holder[key] = copy.deepcopy(rng.choice(_VALUES))
    elif kind < 0.62:
        del holder[key]
    elif kind < 0.7 and isinstance(holder, list):
        holder += [old] * rng.choice((1, 30))
    elif kind < 0.78 and isinstance(holder, dict):
        holder[hostile_text(rng)] = holder.pop(key)
    elif kind < 0.88:
        holder[key] = _nearby(rng, old)
    else:
        other, name = rng.choice(where)
        holder[key] = json.loads(json.dumps(other[name])) if name in _names(other) else hostile_text(rng)
    return document


def _nearby(rng: random.Random, old: Any) -> Any:
    """Return a value of another type that means the same, or one of the same type that means something else."""
    if isinstance(old, bool):
        return int(old)
    if isinstance(old, int | float):
        return rng.choice((str(old), float(old), -old, old + 1, old * 1000, [old], int(old)))
    if isinstance(old, str):
        return hostile_text(rng)
    return rng.choice(([old], {"0": old}, None, str(old)[:50]))


def _names(holder: Any) -> Any:
    return holder if isinstance(holder, dict) else range(len(holder))


def _places(document: Any) -> list[tuple[Any, Any]]:
    found: list[tuple[Any, Any]] = []
    ahead = [document]
    while ahead and len(found) < 3000:
        holder = ahead.pop()
        if isinstance(holder, dict | list):
            for key in list(_names(holder)):
                found.append((holder, key))
                ahead.append(holder[key])
    return found
