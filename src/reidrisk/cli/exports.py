"""What `reidrisk audit` is given: tables of traces as they always were, or exports as they are."""

from collections.abc import Mapping
from typing import Any

from reidrisk.base.errors import OptionError, ReidRiskError
from reidrisk.base.specs import as_flag

_OF_TRACES = ("n_tokens", "vocabulary", "allow_unmatched")
_FLAGS = {"items": "--item"}


def inputs_of(given: Mapping[str, Any], scenario: Any) -> dict[str, Any]:
    """Return what an audit reads: two tables of traces, or one or two exports with how to read them.

    Traces of which a ``scenario`` is asked are exports, too.
    """
    from reidrisk.audit import Tables
    from reidrisk.audit.stored.opening import for_engine, is_stored
    from reidrisk.io import Reading

    files = tuple(given[name] for name in ("targets", "queries") if given[name] is not None)
    said = {name: given[name] for name in Reading.model_fields if given.get(name) not in (None, False, ())}
    if given.get("item"):
        said["items"] = tuple(given["item"])
    of_traces = next((name for name in _OF_TRACES if given[name]), None) or (
        "system" if given["system"] != "other" else None
    )
    named = next((name for name in said if name != "layout"), None)
    if of_traces is not None and named is not None:
        flag = _FLAGS.get(named, as_flag(named))
        raise OptionError(f"{as_flag(of_traces)} is for tables of traces and {flag} for exports; choose one")
    if of_traces is not None and len(files) < 2:
        raise OptionError(f"{as_flag(of_traces)} is for two tables of traces; give both")
    plain = len(files) == 2 and named is None and scenario is None
    elsewhere = given.get("engine") in ("duckdb", "spark")
    stored = elsewhere and (any(map(is_stored, files)) or (plain and for_engine(files)))
    if stored and len(files) < 2:
        raise OptionError(f"{files[0]}: an engine compares two stored tables; name the second one too")
    if stored and not plain:
        raise OptionError("folders and tables of an engine are two tables of traces; leave out how to read exports")
    if of_traces is not None or stored or (plain and _are_traces(files, given["layout"])):
        return {"kind": "tables", **{name: given[name] for name in Tables.model_fields if name in given}}
    reading = Reading.called(lambda name: _FLAGS.get(name, as_flag(name)), **said)
    return {"kind": "exports", "files": files, "truth": given["truth"], "reading": reading.to_dict()}


def _are_traces(files: tuple[str, ...], layout: str | None) -> bool:
    """Tell whether these are tables of traces; what cannot be opened is left to their reader to refuse."""
    from reidrisk.io.exports.export import holds_traces

    if layout is not None:
        return layout in ("wide", "long")
    try:
        return any(holds_traces(file) for file in files)  # the reader of traces says what the other one lacks
    except ReidRiskError:
        from reidrisk.io.tables.formats import ENDINGS

        return all(str(file).lower().endswith(tuple(ENDINGS)) for file in files)
