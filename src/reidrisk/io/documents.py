"""JSON files: read in one place, so that whatever is wrong with one is one line that names the file."""

import json
import re
from collections.abc import Callable
from typing import Any

from reidrisk.base.errors import FormatError
from reidrisk.base.foreign import reason
from reidrisk.io.atomic import PathLike
from reidrisk.io.tables.opening import text_of

_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def read_json(path: PathLike, what: str = "JSON", constant: Callable[[str], Any] | None = None) -> Any:
    """Return what a JSON file holds; messages say ``what`` it should be.

    ``constant`` is given ``NaN``, ``Infinity`` or ``-Infinity`` where the file holds one of them. Default: numbers.
    """
    return parse_json(text_of(path), str(path), what, constant)


def parse_json(text: str | bytes, name: str, what: str = "JSON", constant: Callable[[str], Any] | None = None) -> Any:
    """Return what JSON text of the file ``name`` holds."""
    wrong = f"{name}: this is not JSON{'' if what == 'JSON' else f', but should be {what}'}"
    try:
        found = json.loads(text, parse_constant=constant)
        if _SURROGATE.search(text if isinstance(text, str) else text.decode("latin-1")):
            json.dumps(found, ensure_ascii=False).encode()  # half a character cannot be written again
        return found
    except UnicodeEncodeError:
        raise FormatError(f"{wrong}: a text in it holds half a character; write it again") from None
    except RecursionError:  # without its context, which is as deep as the file
        raise FormatError(f"{wrong}: it is nested too deep; write it again") from None
    except FormatError:
        raise
    except ValueError as error:  # also a number of more digits than Python takes
        raise FormatError(f"{wrong}: {reason(error).split(';')[0]}") from error
