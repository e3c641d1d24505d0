"""What a file says of itself: the vocabulary and its size travel with the table."""

import json
from dataclasses import dataclass

from reidrisk.base import FormatError, ReidRiskError, Vocabulary, is_whole, sizes

KEY = b"reidrisk"
"""Key of the schema metadata of Parquet and Arrow files, and name of the array in NPZ files; the value is JSON."""

_MARKS = ("made_with_seed", "padded_with_seed")  # of sets that a seed decided: the name, and the former one


@dataclass(frozen=True)
class Metadata:
    """The vocabulary of a table, or at least its size, and the size of a full set; ``None`` where it does not say."""

    n_tokens: int | None = None
    vocabulary: Vocabulary | None = None
    k: int | None = None
    made_with_seed: bool = False  # whether a seed decided something in the sets, so that they are not released


def to_json(n_tokens: int, vocabulary: Vocabulary | None, made_with_seed: bool = False) -> str:
    """Write the metadata as JSON."""
    words = {} if vocabulary is None else {"vocabulary": list(vocabulary.labels)}
    mark = {"made_with_seed": True} if made_with_seed else {}
    return json.dumps({"n_tokens": n_tokens, **words, **mark}, ensure_ascii=False)


def from_json(name: str, text: str) -> Metadata:
    """Read the metadata of the file ``name`` back."""
    its = f"{name}: its 'reidrisk' metadata"
    try:
        document = json.loads(text)
        labels, n_tokens, k = document.get("vocabulary"), document.get("n_tokens"), document.get("k")
        seeded = [document.get(mark, False) for mark in _MARKS]
        if not isinstance(labels, list | None):
            raise FormatError(f"the vocabulary is a {type(labels).__name__}, not a list")
        vocabulary = None if labels is None else Vocabulary(labels)
    except (ValueError, AttributeError, TypeError, RecursionError) as error:
        reason = f" ({error})" if isinstance(error, ReidRiskError) else ""
        raise FormatError(f"{its} is damaged{reason}; write the file again") from error
    if n_tokens is None and vocabulary is not None:
        n_tokens = len(vocabulary)
    whole = n_tokens is None or (is_whole(n_tokens) and n_tokens > 0)
    if not whole or (vocabulary is not None and len(vocabulary) != n_tokens):
        stated = "no vocabulary" if vocabulary is None else f"{len(vocabulary)} labels"
        raise FormatError(f"{its} contradicts itself (n_tokens {n_tokens!r}, {stated}); write the file again")
    sizes.TOKENS.check(n_tokens or 0, name, "number those that occur from 0 on")
    most = n_tokens or sizes.TOKENS.most
    if k is not None and not (is_whole(k) and 1 <= k <= most):
        shown = repr(k) if not isinstance(k, int) or abs(k) < 10**18 else "more than 10^18"
        raise FormatError(f"{its} says sets of {shown} tokens, and there are {most:,} at most; write the file again")
    for mark, value in zip(_MARKS, seeded, strict=True):
        if not isinstance(value, bool):
            raise FormatError(f"{its} says {mark} {value!r}, not true or false; write the file again")
    return Metadata(n_tokens, vocabulary, k, any(seeded))
