"""Ids of two tables in one form: numbers as text where the other table has text, zeros in front left out if need be."""

from typing import Any

from reidrisk.base import Note, UserIds, find_users, is_text

_ENOUGH = 0.5  # share of the smaller table that must be found once zeros are left out


def ids_alike(one: UserIds | None, two: UserIds | None) -> tuple[Any, Any, tuple[Note, ...]]:
    """Return the ids of two tables in one form, and a note where zeros in front had to be left out.

    A program that reads ``00123`` as a number writes 123 back: where no id is in both tables, but most are without
    these zeros, they are left out.

    >>> import numpy, pyarrow as pa
    >>> one, two, notes = ids_alike(pa.array(["007", "012"], pa.large_string()), numpy.array([12, 7, 8]))
    >>> one.to_pylist(), two.to_pylist(), notes[0].code
    (['7', '12'], ['12', '7', '8'], 'zeros-left-out')
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if one is None or two is None or (not is_text(one) and not is_text(two)):
        return one, two, ()
    text = [ids if is_text(ids) else pa.array(ids).cast(pa.large_string()) for ids in (one, two)]
    if (find_users(text[0], text[1]) >= 0).any():
        return text[0], text[1], ()
    bare = [pc.replace_substring_regex(ids, "^0+(.)", r"\1") for ids in text]
    if any(pc.count_distinct(ids).as_py() < len(ids) for ids in bare):
        return text[0], text[1], ()
    found = int((find_users(bare[0], bare[1]) >= 0).sum())
    if found < _ENOUGH * min(map(len, bare)):
        return text[0], text[1], ()
    return bare[0], bare[1], (Note("zeros-left-out", found=found),)
