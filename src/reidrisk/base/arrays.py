"""Short names for types of arrays."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["Array", "ArrayLike", "Bools", "Floats", "Ints", "Signed"]

Array = NDArray[Any]
Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Signed = NDArray[np.signedinteger[Any]]
