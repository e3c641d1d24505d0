"""Which scenario the options of `reidrisk audit` name, if any."""

from typing import Any

from reidrisk.base.errors import OptionError
from reidrisk.cli.groups import group
from reidrisk.cli.parameters import option

_KNOWS, _SPLIT = ("facts", "errors", "which"), ("split", "at", "share")


@group
class ScenarioOptions:
    """Who attacks, with what."""

    scenario: str | None = option(None, "Who attacks, with what; default: all that fit.")
    facts: int | None = option(None, "Facts that the attacker of 'knows' has about a person; default: 4.")
    errors: float | None = option(None, "Share of these facts that are wrong.")
    told: str | None = option(
        None, "What they know of each event of a log: what, day or row; with --scenario knows, no other step is asked."
    )
    which: str | None = option(None, "Which facts they know: random, first (in time) or rarest; default: random.")
    split: str | None = option(None, "How 'split' cuts a table in two: by time, random or a column; default: time.")
    at: str | None = option(None, "Where 'split' cuts: a date or number; two, with a comma, leave out what is between.")
    share: float | None = option(None, "Share of each record to identify after a 'split'; default: 0.5.")
    visit: str | None = option(None, "Identify each day, week, month or value of a column by itself (one table).")


def chosen_scenario(given: ScenarioOptions) -> dict[str, Any] | None:
    """Return the scenario that options name: options of one of them alone are enough.

    >>> chosen_scenario(ScenarioOptions(facts=2, which="rarest"))
    {'name': 'knows', 'facts': 2, 'which': 'rarest'}
    >>> chosen_scenario(ScenarioOptions(at="2024-06-30,2024-09-01"))
    {'name': 'split', 'at': ('2024-06-30', '2024-09-01')}
    """
    said = {name: value for name, value in vars(given).items() if value is not None}
    name, told = said.pop("scenario", None), said.pop("told", None)
    if name == "knows" and told is not None:
        said["told"] = told
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
