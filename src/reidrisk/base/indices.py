"""Index arrays of sparse matrices, checked in full before any compiled loop follows them.

A row of a sparse matrix lies between two numbers of ``indptr``, its columns are numbers in ``indices``. Compiled code
follows both without looking: one number out of place reads, or writes, somewhere else in memory.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from reidrisk.base.errors import DataError


def checked_csr(matrix: Any, what: str = "the matrix") -> Any:
    """Return a sparse matrix by rows (CSR), or refuse one whose index arrays point outside it.

    It may be in any format of ``scipy.sparse``; one that is in CSR already is not copied. Messages call it ``what``.

    >>> from scipy import sparse
    >>> bad = sparse.csr_array([[0, 1], [1, 0]])
    >>> bad.indptr[1] = 2_000_000
    >>> checked_csr(bad)
    Traceback (most recent call last):
        ...
    reidrisk.base.errors.DataError: the matrix is no valid sparse matrix: indptr falls after row 1; build it anew
    """
    wrong = f"{what} is no valid sparse matrix:"
    if matrix.format in ("csr", "csc", "bsr"):
        _check_compressed(matrix, wrong)
    elif matrix.format == "coo":
        for axis, places in enumerate(matrix.coords):
            _check_places(places, matrix.shape[axis], f"{wrong} axis {axis}")
    return matrix.tocsr()


def _check_compressed(matrix: Any, wrong: str) -> None:
    """Refuse a matrix whose ``indptr`` does not go from 0 to the number of entries, or falls, or leaves its shape."""
    kind, indptr, shape = matrix.format, matrix.indptr, matrix.shape
    # Matrices in memory may have room for more entries at the end, which nobody looks at.
    used = slice(max(int(indptr[-1]), 0) if indptr.size else 0)
    indices, data = matrix.indices[used], matrix.data[used]
    if indptr.ndim != 1 or indices.ndim != 1 or indptr.dtype.kind not in "iu" or indices.dtype.kind not in "iu":
        raise DataError(f"{wrong} indptr and indices must be lists of whole numbers; build it anew")
    rows, columns = (shape[1], shape[0]) if kind == "csc" else (shape[0], shape[1])
    if kind == "bsr":
        block = data.shape[1:]
        if len(block) != 2 or min(block) < 1 or rows % block[0] or columns % block[1]:
            raise DataError(f"{wrong} blocks of shape {block} do not fill {rows:,} x {columns:,}; build it anew")
        rows, columns = rows // block[0], columns // block[1]
    elif data.ndim != 1:
        raise DataError(f"{wrong} its values have shape {data.shape}; build it anew")
    if indptr.size != rows + 1:
        raise DataError(f"{wrong} indptr has {indptr.size:,} numbers, not {rows + 1:,}; build it anew")
    if indices.size != data.shape[0]:
        raise DataError(f"{wrong} there are {indices.size:,} indices for {data.shape[0]:,} values; build it anew")
    # Not by their difference, which wraps around at the ends of the type.
    falls = indptr[1:] < indptr[:-1]
    if falls.any():
        line = "column" if kind == "csc" else "row"
        raise DataError(f"{wrong} indptr falls after {line} {int(np.argmax(falls))}; build it anew")
    if indptr[0] != 0 or indptr[-1] != indices.size:
        raise DataError(
            f"{wrong} indptr goes from {indptr[0]} to {indptr[-1]}, not from 0 to {indices.size:,}; build it anew"
        )
    outside = (indices < 0) | (indices >= columns)
    if outside.any():
        entry = int(np.argmax(outside))
        row = int(np.searchsorted(indptr, entry, side="right")) - 1
        lines = ("column", "row") if kind == "csc" else ("row", "column")
        raise DataError(f"{wrong} {lines[0]} {row} names {lines[1]} {indices[entry]} of {columns:,}; build it anew")


def _check_places(places: npt.NDArray[Any], size: int, wrong: str) -> None:
    if places.ndim != 1 or places.dtype.kind not in "iu":
        raise DataError(f"{wrong} places are of type {places.dtype} and shape {places.shape}; give whole numbers")
    outside = (places < 0) | (places >= size)
    if outside.any():
        entry = int(np.argmax(outside))
        raise DataError(f"{wrong} entry {entry} is at place {places[entry]} of {size:,}; build it anew")
