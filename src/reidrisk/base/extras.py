"""Imports of optional dependencies: where one is missing, the error names the exact install command."""

import importlib
from types import ModuleType

from reidrisk.base.errors import MissingExtraError


def require(module: str, extra: str, purpose: str, package: str = "reidrisk") -> ModuleType:
    """Import ``module``, which belongs to the extra ``extra``, or say in one sentence how to get it.

    ``purpose`` is what needs it, as the subject of the sentence; ``package`` the distribution that has the extra.

    >>> require("no_such_module", "report", "the HTML report")
    Traceback (most recent call last):
        ...
    reidrisk.base.errors.MissingExtraError: the HTML report needs 'no_such_module'; install it with:
    pip install "reidrisk[report]"
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        # What is missing may be a dependency of the module: the same command installs it.
        missing = (error.name or module).partition(".")[0]
        install = f'pip install "{package}[{extra}]"'
        raise MissingExtraError(f"{purpose} needs {missing!r}; install it with: {install}") from error
