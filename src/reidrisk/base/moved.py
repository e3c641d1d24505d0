"""Old names of what is now in the distribution ``reidrisk-studies``: they work for one version, with a warning."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable, Mapping
from typing import Any

from reidrisk.base.errors import MissingExtraError

STUDIES = "reidrisk-studies"
"""The distribution that holds the papers' figures, and what only they use."""


def to_studies(module: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a module some of whose names have moved; ``homes`` names their new modules.

    Examples
    --------
    >>> find = to_studies("reidrisk.cohorts", {"weekly_histories": "no_such_studies.floc.weekly_histories"})
    >>> find("weekly_histories")
    Traceback (most recent call last):
        ...
    reidrisk.base.errors.MissingExtraError: reidrisk.cohorts.weekly_histories is now in
    no_such_studies.floc.weekly_histories; install it with: pip install reidrisk-studies
    """

    def find(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        home = homes[name]
        try:
            found = importlib.import_module(home)
        except ModuleNotFoundError as error:
            if error.name != home.partition(".")[0]:
                raise
            raise MissingExtraError(
                f"{module}.{name} is now in {home}; install it with: pip install {STUDIES}"
            ) from error
        warnings.warn(f"{module}.{name} is now in {home}", DeprecationWarning, stacklevel=2)
        return getattr(found, name, found)

    return find
