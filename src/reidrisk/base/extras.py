"""Imports of optional dependencies: where one is missing, the error names the exact install command."""

import importlib
from types import ModuleType

from reidrisk.base.errors import MissingExtraError

INSTALL = "install it, in the folder of the source of reidrisk, with: pip install"


def require(module: str, extra: str, purpose: str, folder: str = ".") -> ModuleType:
    """Import ``module``, which belongs to the extra ``extra``, or say in one sentence how to get it.

    ``purpose`` is what needs it, as the subject of the sentence; ``folder`` that of the distribution that has it, seen
    from the source: the command installs what is there, and asks no index for a package of this name.

    >>> require("no_such_module", "report", "the HTML report")
    Traceback (most recent call last):
        ...
    reidrisk.base.errors.MissingExtraError: the HTML report needs 'no_such_module'; install it, in the
    folder of the source of reidrisk, with: pip install ".[report]"
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        # What is missing may be a dependency of the module: the same command installs it.
        missing = (error.name or module).partition(".")[0]
        raise MissingExtraError(f'{purpose} needs {missing!r}; {INSTALL} "{folder}[{extra}]"') from error
