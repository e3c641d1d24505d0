"""Text that came from somebody else, on its way to a terminal or a log: made harmless, and masked where asked.

On a terminal, an escape sequence in a label or a file name could move the cursor or make a link; in the log of a
pipeline, an id could be read by people who may not see the data.
"""

import os
import re
import unicodedata
from collections.abc import Iterable

MASK_VARIABLE = "REIDRISK_MASK_IDS"
"""The environment variable that asks for masked error lines: any text but the empty one, 0, false and no."""

_ESCAPED = ("Cc", "Cf", "Cs", "Zl", "Zp")  # controls of both kinds, directions and tags, half characters, line ends
_JOINERS = "\u200c\u200d"  # part of words in some scripts, and of emoji

_HIDDEN = "…"
_PLACES = "rows?|lines?|records?|columns?|entry|entries|epochs?|positions?|values?|labels?|bytes?|char"
# A quoted text, as repr and libraries write it; then what still has a digit in it.
_QUOTED = re.compile(r"""(?<!\w)('(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|`[^`]*`)(?!\w)""")
_WITH_DIGIT = re.compile(rf"(?P<place>\b(?:{_PLACES}) \d+(?: and \d+)?\b(?!\.\d))|[^\s(),;:]*\d[^\s(),;:]*")


def printable(text: str) -> str:
    r"""Return a text that a terminal shows as it stands: whatever is no visible character is written as an escape.

    So are line ends and tabs, marks that turn the direction of writing, and halves of characters.

    >>> print(printable("caf\u00e9 \x1b[31m red\n\u202eon"))
    café \x1b[31m red\n\u202eon
    """
    if text.isprintable():
        return text

    def shown(char: str) -> str:
        hidden = unicodedata.category(char) in _ESCAPED and char not in _JOINERS
        return char.encode("unicode_escape", "surrogatepass").decode("ascii") if hidden else char

    return "".join(map(shown, text))


def mask_wanted() -> bool:
    """Return whether error lines are to be masked, by the environment variable ``REIDRISK_MASK_IDS``."""
    return os.environ.get(MASK_VARIABLE, "").strip().lower() not in ("", "0", "false", "no")


def masked(message: str, given: Iterable[str] = ()) -> str:
    """Return an error line without values of the data: what is quoted and what has a digit in it becomes ``…``.

    Numbers that say where to look (row 3, line 7) stay, and what the user wrote on the command line (``given``).
    Errors of this package quote every value that is text, which is what makes this work.

    >>> masked("a.csv: row 3, column 'user' holds 'ann-17' again, after row 2; user 4711 too", ["a.csv"])
    "a.csv: row 3, column '…' holds '…' again, after row 2; user … too"
    """
    kept: list[str] = []

    def aside(text: str) -> str:
        kept.append(text)
        return f"\0{len(kept) - 1}\0"

    # Put aside what may stay, longest first, so that no name is cut by one that is part of it.
    for word in sorted({word for word in given if word}, key=len, reverse=True):
        whole = re.compile(rf"(?<![\w.-]){re.escape(word)}(?![\w-])")
        message = whole.sub(lambda found: aside(found.group()), message)
    message = _WITH_DIGIT.sub(_hide_number, _QUOTED.sub(_hide_quoted, message))
    return re.sub(r"\0(\d+)\0", lambda found: kept[int(found.group(1))], message)


def _hide_quoted(found: re.Match[str]) -> str:
    text = found.group()
    # What stands between the quotes was put aside as a whole: the user wrote it.
    return text if re.fullmatch(r".\0\d+\0.", text) else f"{text[0]}{_HIDDEN}{text[-1]}"


def _hide_number(found: re.Match[str]) -> str:
    text = found.group()
    return text if found["place"] or "\0" in text else _HIDDEN


def reason(error: BaseException, most: int = 200) -> str:
    r"""Return what a library said of its failure, in one line of at most ``most`` characters.

    Where error lines are masked it is the kind of the failure, and its line where that is known: libraries quote rows
    of the data as they stand.

    >>> reason(ValueError("no such\n  thing."))
    'no such thing'
    """
    kind = type(error).__name__
    if mask_wanted():
        line = getattr(error, "lineno", None)  # of what parses text
        return f"{kind} in line {line}" if isinstance(line, int) else kind
    return " ".join(str(error).split())[:most].rstrip(".") or kind
