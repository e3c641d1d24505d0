"""Sparse matrices as ``scipy.sparse.save_npz`` stores them, checked in full before a compiled loop sees them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from reidrisk.base import sizes
from reidrisk.base.errors import DataError, FormatError
from reidrisk.base.foreign import reason
from reidrisk.base.indices import checked_csr

_COMPRESSED = ("indices", "indptr")
_PLACES = {"csr": _COMPRESSED, "csc": _COMPRESSED, "bsr": _COMPRESSED, "coo": ("row", "col"), "dia": ("offsets",)}


def sparse_matrix(arrays: Mapping[str, Any], name: str) -> Any:
    """Return the matrix that the arrays of the file ``name`` describe, by rows (CSR).

    Examples
    --------
    >>> stored = {"format": np.array(b"csr"), "shape": np.array([2, 2]), "data": np.ones(2),
    ...           "indices": np.array([1, 2]), "indptr": np.array([0, 1, 2])}
    >>> sparse_matrix(stored, "p.npz")
    Traceback (most recent call last):
        ...
    reidrisk.base.errors.DataError: p.npz is no valid sparse matrix: row 1 names column 2 of 2; build it anew
    """
    from scipy import sparse

    value = arrays["format"].item() if arrays["format"].ndim == 0 else None
    kind = value.decode("ascii", "replace") if isinstance(value, bytes) else value
    if kind not in _PLACES:
        raise FormatError(f"{name}: its sparse format is {kind!r}; save the matrix as one of {', '.join(_PLACES)}")
    for part in ("data", *_PLACES[kind]):
        if part not in arrays:
            raise FormatError(f"{name}: a sparse matrix ({kind}) needs an array {part!r}; save it with save_npz")
    sides, data = arrays["shape"], arrays["data"]
    if sides.shape != (2,) or sides.dtype.kind not in "iu" or int(sides.min()) < 0:
        raise FormatError(f"{name}: the shape of its matrix is damaged; save it with scipy.sparse.save_npz")
    shape = (int(sides[0]), int(sides[1]))
    sizes.OUTPUTS.check(max(shape), name, "leave out what nobody has")
    if data.dtype.kind not in "fiu":
        raise FormatError(f"{name}: the values of its matrix are of type {data.dtype}; a channel holds numbers")
    wrong, places = f"{name} is no valid sparse matrix:", [arrays[part] for part in _PLACES[kind]]
    for places_of in places:
        if places_of.ndim != 1 or places_of.dtype.kind not in "iu":
            raise DataError(f"{wrong} its places must be lists of whole numbers; build it anew")
        # The library may take a number that is too large for its own type for another one.
        if (np.abs(places_of.astype(np.float64)) > max(*shape, data.size)).any():
            raise DataError(f"{wrong} a place lies outside it; build it anew")
    try:
        given = (data, tuple(places)) if kind == "coo" else (data, *places)
        matrix = getattr(sparse, f"{kind}_array")(given, shape=shape)
    except (ValueError, TypeError, IndexError) as error:
        raise DataError(f"{wrong} {reason(error)}; build it anew") from error
    return checked_csr(matrix.tocoo() if kind == "dia" else matrix, name)
