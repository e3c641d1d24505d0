"""Options that are numbers, checked in one place: one line says which, what was given, and what is allowed."""

import string
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from difflib import get_close_matches
from typing import Any

import numpy as np

from reidrisk.base.errors import DataError, OptionError

_FLAG: ContextVar[Callable[[str], str] | None] = ContextVar("flag", default=None)


@contextmanager
def spelt(flag: Callable[[str], str]) -> Iterator[None]:
    """Let :func:`option` write options as ``flag`` does while this lasts: the command line is used, not Python."""
    token = _FLAG.set(flag)
    try:
        yield
    finally:
        _FLAG.reset(token)


def option(name: str, value: str | bool | None = None) -> str:
    """Return an option, with a value or without, as who is to give it writes it: an argument, or a flag.

    A value in capitals stands for one of its kind, such as ``"FILE"``: in Python it is left open.

    >>> option("items", "COLUMN"), option("skip_bad_rows", True), option("layout", "people")
    ('items=', 'skip_bad_rows=True', "layout='people'")
    >>> with spelt({"items": "--item"}.__getitem__):
    ...     option("items", "COLUMN")
    '--item COLUMN'
    """
    flag = _FLAG.get()
    if flag is None:
        return f"{name}=" if value is None or str(value).isupper() else f"{name}={value!r}"
    return f"{flag(name)} {value}" if isinstance(value, str) else flag(name)


def refuse_unknown(names: Iterable[str], known: Iterable[str]) -> None:
    """Refuse the first name that is no option, with the known one that is nearest.

    >>> refuse_unknown(["item"], ["user", "items"])
    Traceback (most recent call last):
    reidrisk.base.errors.OptionError: item is no option; did you mean items? Options are user, items
    """
    there = tuple(known)
    for name in names:
        if name not in there:
            near = get_close_matches(name, there, 1)
            meant = f"; did you mean {near[0]}? Options are" if near else "; options are"
            raise OptionError(f"{name} is no option{meant} {', '.join(there)}")


def whole(name: str, value: Any, least: int = 1, unit: str = "") -> int:
    """Return ``value`` as an ``int``, or refuse what is not a whole number of at least ``least``.

    A bool is no number. ``unit`` says what is counted, for the message.

    >>> whole("epochs", 2.5)
    Traceback (most recent call last):
    reidrisk.base.errors.OptionError: epochs must be a whole number of at least 1, not 2.5
    """
    if not is_whole(value) or int(value) < least:
        counted = f" of {unit}, at least {least}" if unit else f" of at least {least}"
        raise OptionError(f"{name} must be a whole number{counted}, not {value!r}")
    return int(value)


def whole_up_to(name: str, value: Any, most: int, least: int = 1, limit: str = "") -> int:
    """Return ``value`` as an ``int``, or refuse what is not a whole number from ``least`` to ``most``.

    ``limit`` is how the message names the largest. Default: its number.

    >>> whole_up_to("top_k", 9, 8, limit="the 8 tokens")
    Traceback (most recent call last):
    reidrisk.base.errors.OptionError: top_k must be a whole number from 1 to the 8 tokens, not 9
    """
    if not is_whole(value) or not least <= int(value) <= most:
        raise OptionError(f"{name} must be a whole number from {least} to {limit or most}, not {value!r}")
    return int(value)


def from_0_to_1(name: str, value: Any, what: str = "a probability") -> float:
    """Return ``value`` as a ``float``, or refuse what is not a number from 0 to 1.

    >>> from_0_to_1("share", "half")
    Traceback (most recent call last):
    reidrisk.base.errors.OptionError: share is a probability from 0 to 1, not 'half'
    """
    if not is_number(value) or not 0.0 <= value <= 1.0:
        raise OptionError(f"{name} is {what} from 0 to 1, not {value if is_number(value) else repr(value)}")
    return float(value)


def between_0_and_1(name: str, value: Any) -> float:
    """Return ``value`` as a ``float``, or refuse what is not a number between 0 and 1, neither of them included.

    >>> between_0_and_1("level", 95)
    Traceback (most recent call last):
    reidrisk.base.errors.OptionError: level must lie strictly between 0 and 1, not 95
    """
    if not is_number(value) or not 0.0 < value < 1.0:
        raise OptionError(f"{name} must lie strictly between 0 and 1, not {value!r}")
    return float(value)


def share(name: str, value: Any) -> float:
    """Return a share: a number from 0 to 1, or a text such as ``0.05`` or ``5%``.

    >>> share("max_risk", "5%"), share("max_risk", 0.05)
    (0.05, 0.05)
    """
    text = str(value).strip()
    with suppress(ValueError):
        found = float(text.removesuffix("%")) / (100.0 if text.endswith("%") else 1.0)
        if not isinstance(value, bool) and 0.0 <= found <= 1.0:
            return found
    raise OptionError(f"{name} takes a share such as 0.05 or 5%, not {value!r}")


def one_of(name: str, value: Any, known: Iterable[str]) -> Any:
    """Return ``value``, or refuse what is none of the ``known`` names.

    >>> one_of("invalid", "drop", ("refuse", "count"))
    Traceback (most recent call last):
    reidrisk.base.errors.OptionError: invalid must be one of refuse, count, not 'drop'
    """
    if value not in (names := tuple(known)):
        raise OptionError(f"{name} must be one of {', '.join(names)}, not {value!r}")
    return value


def is_whole(value: Any) -> bool:
    """Return whether a value is a whole number in Python or NumPy, and no bool."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def is_number(value: Any) -> bool:
    """Return whether a value is a number in Python or NumPy, and no bool."""
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


def of_class(what: str, value: object, kind: type | tuple[type, ...], example: str) -> None:
    """Refuse a value of another class in one line; ``example`` says what to give.

    >>> of_class("spec", "seed 1", dict, "a mapping of options")
    Traceback (most recent call last):
    reidrisk.base.errors.DataError: spec must be a mapping of options, not str
    """
    if not isinstance(value, kind):
        raise DataError(f"{what} must be {example}, not {type(value).__name__}")


_BYTES = {"": 1.0, "b": 1.0, "kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12}
_SECONDS = {"": 1.0, "s": 1.0, "sec": 1.0, "min": 60.0, "m": 60.0, "h": 3600.0}


def size(name: str, value: Any) -> int:
    """Return a number of bytes: a number, or a text such as ``4GB`` or ``500MB``.

    >>> size("memory", "4GB"), size("memory", 1_000)
    (4000000000, 1000)
    """
    return int(_in_units(value, _BYTES, f"{name} takes a size such as 4GB or 500MB"))


def seconds(name: str, value: Any) -> float:
    """Return a time in seconds: a number, or a text such as ``60s`` or ``5min``.

    >>> seconds("budget", "60s"), seconds("budget", "5min"), seconds("budget", 90)
    (60.0, 300.0, 90.0)
    """
    return _in_units(value, _SECONDS, f"{name} takes a time such as 60s or 5min")


def _in_units(value: Any, units: Mapping[str, float], wanted: str) -> float:
    if is_number(value):
        return float(value)
    text = str(value).strip().lower()
    number = text.rstrip(f"{string.ascii_lowercase} ")
    try:
        return float(number) * units[text[len(number) :].strip()]
    except (KeyError, ValueError) as error:
        raise OptionError(f"{wanted}, not {value!r}") from error
