"""Which scenario the options of `reidrisk audit` name, if any."""

from collections.abc import Mapping
from typing import Any

from reidrisk.base.errors import OptionError

_KNOWS, _SPLIT = ("facts", "errors", "which"), ("split", "at", "share")


def chosen_scenario(given: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the scenario that options name: options of one of them alone are enough.

    >>> chosen_scenario({"facts": 2, "which": "rarest"})
    {'name': 'knows', 'facts': 2, 'which': 'rarest'}
    >>> chosen_scenario({"at": "2024-06-30,2024-09-01"})
    {'name': 'split', 'at': ('2024-06-30', '2024-09-01')}
    """
    said = {name: given.get(name) for name in (*_KNOWS, *_SPLIT, "visit") if given.get(name) is not None}
    name = given.get("scenario")
    if name is None:
        knows, split = (next((one for one in some if one in said), None) for some in (_KNOWS, _SPLIT))
        if knows and split:
            raise OptionError(f"--{knows} is for the scenario 'knows', --{split} for 'split'; choose one of the two")
        name = "knows" if knows else "split" if split else None
    if name is None:
        if "visit" in said:
            raise OptionError("--visit is for the scenarios 'split' and 'two-tables'; name one with --scenario")
        return None
    by = said.pop("split", None)
    if by is not None:
        said |= {"by": by} if by in ("time", "random") else {"by": "column", "column": by}
    if "at" in said:
        moments = tuple(_moment(part) for part in str(said["at"]).split(","))
        said["at"] = moments[0] if len(moments) == 1 else moments
    if "visit" in said:
        said["visit"] = _moment(str(said["visit"]))
    return {"name": name, **said}


def _moment(text: str) -> str | float:
    """Return a number where it is one."""
    try:
        return float(text)
    except ValueError:
        return text.strip()
