"""Sparse matrices as ``scipy.sparse.save_npz`` stores them, checked in full before SciPy or a kernel sees them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from reidrisk.base import sizes
from reidrisk.base.errors import DataError, FormatError
from reidrisk.base.indices import check_compressed, check_places

_PARTS = {
    "csr": ("data", "indices", "indptr"),
    "csc": ("data", "indices", "indptr"),
    "bsr": ("data", "indices", "indptr"),
    "coo": ("data", "row", "col"),
    "dia": ("data", "offsets"),
}


def sparse_matrix(arrays: Mapping[str, Any], name: str) -> Any:
    """Return the matrix that the arrays of the file ``name`` describe, by rows (CSR).

    Examples
    --------
    >>> import numpy as np
    >>> stored = {"format": np.array(b"csr"), "shape": np.array([2, 2]), "data": np.ones(2),
    ...           "indices": np.array([1, 0]), "indptr": np.array([0, 1, 2])}
    >>> sparse_matrix(stored, "p.npz").toarray().tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    >>> sparse_matrix(stored | {"indices": np.array([1, 2])}, "p.npz")
    Traceback (most recent call last):
        ...
    reidrisk.base.errors.DataError: p.npz is no valid sparse matrix: row 1 names column 2 of 2; build it anew
    """
    kind = _kind(arrays["format"], name)
    missing = [part for part in _PARTS[kind] if part not in arrays]
    if missing:
        raise FormatError(f"{name}: a sparse matrix ({kind}) needs an array {missing[0]!r}; save it with save_npz")
    shape = _shape(arrays["shape"], name)
    data = arrays["data"]
    if data.dtype.kind not in "fiu":
        raise FormatError(f"{name}: the values of its matrix are of type {data.dtype}; a channel holds numbers")
    from scipy import sparse

    if kind in ("csr", "csc", "bsr"):
        indptr, indices = arrays["indptr"], arrays["indices"]
        if data.ndim != (3 if kind == "bsr" else 1):
            raise FormatError(f"{name}: the values of its matrix have shape {data.shape}; save it with save_npz")
        check_compressed(kind, indptr, indices, data, shape, data.shape[1:], name)
        # Unsigned numbers would be taken for another type by the library.
        parts = (data, indices.astype(np.int64), indptr.astype(np.int64))
        made = {"csr": sparse.csr_array, "csc": sparse.csc_array, "bsr": sparse.bsr_array}[kind]
        return sparse.csr_array(made(parts, shape=shape))
    if kind == "coo":
        rows, columns = arrays["row"], arrays["col"]
        wrong = f"{name} is no valid sparse matrix:"
        if not data.shape == rows.shape == columns.shape or data.ndim != 1:
            raise DataError(f"{wrong} values, rows and columns differ in number; build it anew")
        check_places(rows, shape[0], wrong)
        check_places(columns, shape[1], wrong)
        places = (rows.astype(np.int64), columns.astype(np.int64))
        return sparse.csr_array(sparse.coo_array((data, places), shape=shape))
    return _from_diagonals(data, arrays["offsets"], shape, name)


def _from_diagonals(data: Any, offsets: Any, shape: tuple[int, int], name: str) -> Any:
    """Return a matrix from its diagonals: entry ``j`` of a diagonal is in column ``j``."""
    from scipy import sparse

    whole = offsets.dtype.kind in "iu" and offsets.ndim == 1
    if not whole or data.ndim != 2 or len(data) != offsets.size or np.unique(offsets).size != offsets.size:
        raise DataError(f"{name} is no valid sparse matrix: its diagonals are damaged; build it anew")
    if (np.abs(offsets.astype(np.float64)) > max(shape)).any():
        raise DataError(f"{name} is no valid sparse matrix: a diagonal lies outside it; build it anew")
    columns = np.broadcast_to(np.arange(data.shape[1]), data.shape)
    rows = columns - offsets.astype(np.int64)[:, None]
    inside = (rows >= 0) & (rows < shape[0]) & (columns < shape[1])
    return sparse.csr_array(sparse.coo_array((data[inside], (rows[inside], columns[inside])), shape=shape))


def _kind(stored: Any, name: str) -> str:
    value = stored.item() if stored.ndim == 0 else None
    kind = value.decode("ascii", "replace") if isinstance(value, bytes) else value
    if kind not in _PARTS:
        raise FormatError(f"{name}: its sparse format is {kind!r}; save the matrix as one of {', '.join(_PARTS)}")
    return str(kind)


def _shape(stored: Any, name: str) -> tuple[int, int]:
    if stored.shape != (2,) or stored.dtype.kind not in "iu" or int(stored.min()) < 0:
        raise FormatError(f"{name}: the shape of its matrix is damaged; save it with scipy.sparse.save_npz")
    rows, columns = (int(side) for side in stored)
    sizes.OUTPUTS.check(max(rows, columns), name, "leave out what nobody has")
    return rows, columns
