"""Imports of optional dependencies: where one is missing, the error names the exact install command."""

from __future__ import annotations

import importlib
from types import ModuleType

from reidrisk.errors import MissingExtraError

__all__ = ["require"]


def require(module: str, extra: str, purpose: str) -> ModuleType:
    """Import ``module``, which belongs to the extra ``extra``, or say in one sentence how to get it.

    Parameters
    ----------
    module : str
        Dotted name of the module to import.
    extra : str
        Name of the extra in ``pyproject.toml`` that installs it.
    purpose : str
        What needs it, as the subject of the sentence: ``"the HTML report"``.

    Examples
    --------
    >>> require("json", "report", "the HTML report").__name__
    'json'
    >>> require("no_such_module", "report", "the HTML report")
    Traceback (most recent call last):
        ...
    reidrisk.errors.MissingExtraError: the HTML report needs 'no_such_module'; install it with:
    pip install "reidrisk[report]"
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        # A broken installation of the library itself is another matter: let it speak for itself.
        if error.name is None or error.name.partition(".")[0] != module.partition(".")[0]:
            raise
        message = f"{purpose} needs {module.partition('.')[0]!r}; install it with: "
        raise MissingExtraError(message + f'pip install "reidrisk[{extra}]"') from error
