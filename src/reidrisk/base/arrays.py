"""Short names for types of arrays."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["Array", "ArrayLike", "Bools", "Bytes", "Ends", "Floats", "Ints", "Ints32", "Signed", "Singles", "UInts"]
__all__ += ["frozen"]

Array = NDArray[Any]
Bools = NDArray[np.bool_]
Bytes = NDArray[np.uint8]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Ints32 = NDArray[np.int32]
Signed = NDArray[np.signedinteger[Any]]
Singles = NDArray[np.float32]
UInts = NDArray[np.uint64]
Ends = tuple[float, float]  # of an interval


def frozen(array: Array) -> Array:
    """Return the array, read-only from now on."""
    array.flags.writeable = False
    return array
