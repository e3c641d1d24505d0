"""The compiled loop that counts users by cohort and category; the twin is in the tests."""

from typing import Any

from reidrisk.base.kernels import njit


@njit(cache=True, nogil=True)
def count_once(indptr: Any, indices: Any, data: Any, rows: Any, start: int, seen: Any, table: Any) -> None:
    """Add to ``table`` every (cohort row, category) of a user once; ``seen`` remembers the last user of a category."""
    for i in range(rows.size):
        for entry in range(indptr[i], indptr[i + 1]):
            column = indices[entry]
            if data[entry] > 0 and seen[column] != start + i:
                seen[column] = start + i
                table[rows[i], column] += 1
