"""Short names for types of arrays."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["Array", "ArrayLike", "Bools", "Floats", "Ints", "Signed", "frozen"]

Array = NDArray[Any]
Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Signed = NDArray[np.signedinteger[Any]]


def frozen(array: Array) -> Array:
    """Return the array, read-only from now on."""
    array.flags.writeable = False
    return array
