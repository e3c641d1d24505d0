"""Compiled loops: numba's ``njit``, with a cache that is built anew where it is damaged.

Numba trusts what it finds in its cache folder: an empty index file, half a data file after a full disk, and every run
ends in an error. Kernels made here carry a checksum of their compiled code; whatever cannot be read is thrown away and
compiled again.
"""

import functools
import hashlib
import pickle
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from reidrisk.base import kernel_cache

_SUM = hashlib.sha256().digest_size
_settle = functools.cache(kernel_cache.settle)  # once, and not where the package is merely imported


def njit(**options: Any) -> Callable[[Any], Any]:
    """Compile a function on its first call, as ``numba.njit`` does; with ``cache=True`` for all runs to come.

    >>> @njit(nogil=True)
    ... def double(x):
    ...     return 2 * x
    >>> double(21)
    42
    """
    _settle()
    import numba

    def decorate(function: Any) -> Any:
        dispatcher = numba.njit(**options)(function)
        if options.get("cache"):
            _guard(dispatcher._cache)
        return dispatcher

    return decorate


def _guard(cache: Any) -> None:
    """Make a numba cache forgiving: what it cannot load counts as not there, what it cannot save is not saved."""
    load, save, files = cache.load_overload, cache.save_overload, cache._cache_file

    def load_overload(signature: Any, context: Any) -> Any:
        try:
            return load(signature, context)
        except Exception:  # a damaged pickle can raise anything
            with suppress(Exception):
                cache.flush()
            return None

    def save_overload(signature: Any, data: Any) -> None:
        with suppress(Exception):  # a full disk: the kernel is compiled and works, it is only not kept
            save(signature, data)

    def save_data(name: str, data: Any) -> None:
        packed = files._dump(data)
        with files._open_for_write(files._data_path(name)) as file:
            file.write(packed + hashlib.sha256(packed).digest())

    def load_data(name: str) -> Any:
        with open(files._data_path(name), "rb") as file:
            content = file.read()
        packed, stated = content[:-_SUM], content[-_SUM:]
        if hashlib.sha256(packed).digest() != stated:
            raise ValueError(f"{name} is damaged")  # or of numba itself, from before: compiled again either way
        return pickle.loads(packed)

    cache.load_overload, cache.save_overload = load_overload, save_overload
    files._save_data, files._load_data = save_data, load_data
