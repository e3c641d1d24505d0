"""What `reidrisk audit` is given: tables of traces as they always were, or exports as they are."""

from pathlib import Path
from typing import Any

from reidrisk.base.errors import OptionError, ReidRiskError
from reidrisk.base.specs import as_flag
from reidrisk.cli.groups import group, plain
from reidrisk.cli.parameters import flag, option

_OF_TRACES = ("n_tokens", "vocabulary")


@group
class ReadingOptions:
    """How to read an export, and what is known of its people."""

    user: str | None = option(None, "Column of people; in two tables that differ, FIRST=SECOND. Default: guessed.")
    time: str | None = option(None, "Column of times, or 'none'. Default: guessed.")
    item: list[str] | None = option(None, "Column of what people did, or a pattern; repeatable. Default: guessed.")
    channels: bool = option(False, "Keep several --item columns apart instead of joining them.", "--channels")
    amount: str | None = option(None, "Column of whole amounts, or 'none'. Default: guessed.")
    every: str | None = option(None, "Compare two logs by day, week, month or a number of units. Default: chosen.")
    columns: str | None = option(None, "Names of a file without a header; or attributes: age=number,postcode=prefix.")
    grid: str | None = option(None, "Put coordinates on a grid of cells this wide, such as 500m.")
    delimiter: str | None = option(None, "What separates cells: ';', tab, blanks. Default: detected.")
    comment: str | None = option(None, "Leave out lines that begin with this, such as '#'.")
    dates: str | None = option(None, "'day-first', 'month-first' or 'year-first', where the dates leave it open.")
    merge_case: bool = option(False, "Treat labels that differ only in case or blanks as one.", "--merge-case")
    skip_bad_rows: bool = option(False, "Leave out rows that cannot be read, and say so.", "--skip-bad-rows")
    truth: str | None = option(None, "True pairs: a table, and two of its columns, such as pairs.csv:crm_id=shop_id.")


@group
class SystemOptions:
    """What is declared of the system, and of its tables."""

    system: str = option("other", "What the tokens are: 'topics' (the Topics API) or 'other' (no noise declared).")
    top_k: int | None = option(None, "Tokens the system holds for a person at a time.")
    noise: float | None = option(None, "Probability that a random token is shown instead.")
    n_tokens: int | None = option(None, "Size of the system's vocabulary.")
    vocabulary: Path | None = option(None, "All labels of the system: one per line, or a JSON list.")
    layout: str | None = option(None, "log, people, counts, lists, vectors, wide or long; default: detected.")
    allow_unmatched: bool = option(
        False, "Go on if no record is in both tables, or not every record of two tables of traces.", "--allow-unmatched"
    )


def inputs_of(
    files: tuple[str, ...], reading: ReadingOptions, system: SystemOptions, scenario: Any, elsewhere: bool
) -> dict[str, Any]:
    """Return what an audit reads: two tables of traces, or one or two exports with how to read them.

    Traces of which a ``scenario`` is asked are exports, too. ``elsewhere``: an engine may read stored tables itself.
    """
    from reidrisk.audit.stored.opening import for_engine, is_stored
    from reidrisk.io import Reading

    given = vars(reading) | {"items": tuple(reading.item or ()), "layout": system.layout}
    said = {name: given[name] for name in Reading.model_fields if given.get(name) not in (None, False, ())}
    declared = plain(system)
    of_traces = next((name for name in _OF_TRACES if declared[name]), "system" if system.system != "other" else None)
    named = next((name for name in said if name != "layout"), None)
    if of_traces is not None and named is not None:
        raise OptionError(f"{as_flag(of_traces)} is for tables of traces and {flag(named)} for exports; choose one")
    if of_traces is not None and len(files) < 2:
        raise OptionError(f"{as_flag(of_traces)} is for two tables of traces; give both")
    if system.allow_unmatched and len(files) < 2:
        raise OptionError("--allow-unmatched is for two tables; give both, or leave it out")
    two = len(files) == 2 and named is None and scenario is None
    stored = elsewhere and (any(map(is_stored, files)) or (two and for_engine(files)))
    if stored and len(files) < 2:
        raise OptionError(f"{files[0]}: an engine compares two stored tables; name the second one too")
    if stored and not two:
        raise OptionError("folders and tables of an engine are two tables of traces; leave out how to read exports")
    if of_traces is not None or stored or (two and _are_traces(files, system.layout)):
        known = {name: declared[name] for name in (*_OF_TRACES, "layout")}
        return {"kind": "tables", "targets": files[0], "queries": files[1], "truth": reading.truth, **known}
    how = Reading.called(flag, **said).to_dict()
    return {"kind": "exports", "files": files, "truth": reading.truth, "reading": how}


def _are_traces(files: tuple[str, ...], layout: str | None) -> bool:
    """Tell whether these are tables of traces; what cannot be opened is left to their reader to refuse."""
    from reidrisk.io.exports.export import holds_traces
    from reidrisk.records.registry import entry

    if layout is not None:
        return layout in entry("traces").layouts
    try:
        return any(holds_traces(file) for file in files)  # the reader of traces says what the other one lacks
    except ReidRiskError:
        from reidrisk.io.tables.formats import ENDINGS

        return all(str(file).lower().endswith(tuple(ENDINGS)) for file in files)
