"""A grid over the Earth: coordinates become cells of one width, so that a log of positions is a log of places."""

from typing import Any

import numpy as np

from reidrisk.base import DataError, Floats

_METRES = 111_319.5  # of one degree along a meridian


def cells_of_grid(latitude: Floats, longitude: Floats, metres: float, name: str) -> Any:
    """Return the cell of each position as text, ``row:column``; null where a coordinate is missing.

    Rows are ``metres`` high from the equator on. Columns are about as wide: in each row they have the width that is
    ``metres`` in its middle.

    >>> cells_of_grid(np.array([52.5200, 52.5201, 48.1]), np.array([13.4050, 13.4051, 11.6]), 500.0, "log").to_pylist()
    ['11693:1815', '11693:1815', '10708:1724']
    """
    import pyarrow as pa

    for values, most, what in ((latitude, 90.0, "latitude"), (longitude, 180.0, "longitude")):
        beyond = np.flatnonzero(np.abs(values) > most)
        if beyond.size:
            held = f"{name}: row {beyond[0] + 1} holds the {what} {values[beyond[0]]:g}"
            raise DataError(f"{held}; it lies from -{most:g} to {most:g} degrees")
    there = ~(np.isnan(latitude) | np.isnan(longitude))
    row = np.floor(np.where(there, latitude, 0.0) * _METRES / metres)
    middle = np.radians(np.clip((row + 0.5) * metres / _METRES, -89.9, 89.9))
    column = np.floor(np.where(there, longitude, 0.0) * _METRES * np.cos(middle) / metres)
    texts = np.char.add(np.char.add(row.astype(np.int64).astype(str), ":"), column.astype(np.int64).astype(str))
    return pa.chunked_array([pa.array(texts, pa.large_string(), mask=~there)])
