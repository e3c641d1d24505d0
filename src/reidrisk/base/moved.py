"""Old names of what has moved, within the package or to the studies: they work for one version, with a warning."""

import importlib
import tomllib
import warnings
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from reidrisk.base.errors import MissingExtraError
from reidrisk.base.extras import INSTALL

STUDIES = "reidrisk-studies"  # the distribution that holds the papers' figures, and what only they use


@cache
def _homes() -> dict[str, dict[str, str]]:
    return tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))


def moved(module: str, homes: Mapping[str, str] | None = None) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a module some of whose names have moved; ``homes`` names their new modules.

    After a colon stands what a name is called there, where that has changed. Default: as ``moved.toml`` says.

    >>> find = moved("reidrisk.cohorts", {"weekly_histories": "no_such_studies.floc.weekly_histories"})
    >>> find("weekly_histories")
    Traceback (most recent call last):
        ...
    reidrisk.base.errors.MissingExtraError: reidrisk.cohorts.weekly_histories is now in
    no_such_studies.floc.weekly_histories; install it, in the folder of the source of reidrisk, with:
    pip install ./studies
    """

    def find(name: str) -> Any:
        known = _homes()[module] if homes is None else homes
        if name not in known:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        home, _, new = known[name].partition(":")
        try:
            found = importlib.import_module(home)
        except ModuleNotFoundError as error:
            if error.name != home.partition(".")[0]:
                raise
            raise MissingExtraError(f"{module}.{name} is now in {home}; {INSTALL} ./studies") from error
        place = f"{home}.{new}" if new else home
        warnings.warn(f"{module}.{name} is now in {place}", DeprecationWarning, stacklevel=2)
        return getattr(found, new or name, found)

    return find
