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
    fault = ""
    if matrix.format in ("csr", "csc", "bsr"):
        fault = _compressed_fault(matrix)
    elif matrix.format == "coo":
        faults = (_places_fault(places, matrix.shape[axis], axis) for axis, places in enumerate(matrix.coords))
        fault = next(filter(None, faults), "")
    if fault:
        raise DataError(f"{what} is no valid sparse matrix: {fault}; build it anew")
    return matrix.tocsr()


def _compressed_fault(matrix: Any) -> str:
    """Say where ``indptr`` does not go from 0 to the number of entries, or falls, or an index leaves the shape."""
    kind, indptr, shape = matrix.format, matrix.indptr, matrix.shape
    # Matrices in memory may have room for more entries at the end, which nobody looks at.
    used = slice(max(int(indptr[-1]), 0) if indptr.size else 0)
    indices, data = matrix.indices[used], matrix.data[used]
    if indptr.ndim != 1 or indices.ndim != 1 or indptr.dtype.kind not in "iu" or indices.dtype.kind not in "iu":
        return "indptr and indices must be lists of whole numbers"
    rows, columns = (shape[1], shape[0]) if kind == "csc" else (shape[0], shape[1])
    if kind == "bsr":
        block = data.shape[1:]
        if len(block) != 2 or min(block) < 1 or rows % block[0] or columns % block[1]:
            return f"blocks of shape {block} do not fill {rows:,} x {columns:,}"
        rows, columns = rows // block[0], columns // block[1]
    elif data.ndim != 1:
        return f"its values have shape {data.shape}"
    if indptr.size != rows + 1:
        return f"indptr has {indptr.size:,} numbers, not {rows + 1:,}"
    if indices.size != data.shape[0]:
        return f"there are {indices.size:,} indices for {data.shape[0]:,} values"
    # Not by their difference, which wraps around at the ends of the type.
    falls = indptr[1:] < indptr[:-1]
    if falls.any():
        line = "column" if kind == "csc" else "row"
        return f"indptr falls after {line} {int(np.argmax(falls))}"
    if indptr[0] != 0 or indptr[-1] != indices.size:
        return f"indptr goes from {indptr[0]} to {indptr[-1]}, not from 0 to {indices.size:,}"
    outside = (indices < 0) | (indices >= columns)
    if outside.any():
        entry = int(np.argmax(outside))
        row = int(np.searchsorted(indptr, entry, side="right")) - 1
        lines = ("column", "row") if kind == "csc" else ("row", "column")
        return f"{lines[0]} {row} names {lines[1]} {indices[entry]} of {columns:,}"
    return ""


def _places_fault(places: npt.NDArray[Any], size: int, axis: int) -> str:
    if places.ndim != 1 or places.dtype.kind not in "iu":
        return f"axis {axis} places are of type {places.dtype} and shape {places.shape}, not whole numbers"
    outside = (places < 0) | (places >= size)
    entry = int(np.argmax(outside)) if outside.size else 0
    return f"axis {axis} entry {entry} is at place {places[entry]} of {size:,}" if outside.any() else ""
