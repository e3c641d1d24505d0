"""Options that are numbers, checked in one place: one line says which, what was given, and what is allowed."""

from __future__ import annotations

from typing import Any

import numpy as np

from reidrisk.errors import OptionError

__all__ = ["from_0_to_1", "whole"]


def whole(name: str, value: Any, least: int = 1, unit: str = "") -> int:
    """Return ``value`` as an ``int``, or refuse what is not a whole number of at least ``least``.

    Parameters
    ----------
    name : str
        How the caller knows the option.
    value : object
        What was given; a whole number in Python or NumPy, but no bool.
    least : int
        The smallest that is allowed.
    unit : str
        What is counted, such as ``"epochs"``, for the message.

    Examples
    --------
    >>> whole("epochs", np.int16(8))
    8
    >>> whole("epochs", 2.5)
    Traceback (most recent call last):
    reidrisk.errors.OptionError: epochs must be a whole number of at least 1, not 2.5
    """
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or int(value) < least:
        counted = f" of {unit}, at least {least}" if unit else f" of at least {least}"
        raise OptionError(f"{name} must be a whole number{counted}, not {value!r}")
    return int(value)


def from_0_to_1(name: str, value: Any, what: str = "a probability") -> float:
    """Return ``value`` as a ``float``, or refuse what is not a number from 0 to 1.

    Examples
    --------
    >>> from_0_to_1("share", 1)
    1.0
    >>> from_0_to_1("share", "half")
    Traceback (most recent call last):
    reidrisk.errors.OptionError: share is a probability from 0 to 1, not 'half'
    """
    is_number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    if not is_number or not 0.0 <= value <= 1.0:
        raise OptionError(f"{name} is {what} from 0 to 1, not {value if is_number else repr(value)}")
    return float(value)
