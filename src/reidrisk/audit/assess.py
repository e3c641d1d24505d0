"""assess: the shortest way from a table to an answer."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from reidrisk.attacks import Attack
from reidrisk.audit.asking import audit_exports, read
from reidrisk.audit.questions import Asked
from reidrisk.audit.result import AuditResult
from reidrisk.audit.run import run
from reidrisk.audit.spec import AuditSpec, Exports, InMemory
from reidrisk.audit.stored.opening import for_engine, is_stored
from reidrisk.base import Note, OptionError, Progress
from reidrisk.base.options import refuse_unknown, seconds
from reidrisk.io import Reading
from reidrisk.scenarios import Scenario
from reidrisk.search.engines import find_engine
from reidrisk.search.engines.relational import Relational

_OWN = ("truth", "scenario", "budget", "max_risk", "seed", "progress", "say", "engine")
_KNOWN = tuple(dict.fromkeys((*_OWN, *Reading.model_fields, *AuditSpec.model_fields)))


def assess(
    table: Any,
    other: Any = None,
    *,
    truth: Any = None,
    scenario: str | Asked | type[Scenario] | None = None,
    budget: float | str | None = None,
    max_risk: float | str | None = None,
    seed: int | None = None,
    progress: Progress | None = None,
    say: Callable[[str], object] | None = print,
    **said: Any,
) -> AuditResult:
    """Measure how many people can be found in one table, or by linking two.

    ``table`` and ``other`` are files or frames as they were exported (:func:`reidrisk.io.read_export`); further
    keywords are the fields of a :class:`reidrisk.io.Reading`, such as ``user="customer"``, ``items=["category"]`` or
    ``every="week"``, or of the :class:`reidrisk.audit.AuditSpec`, such as ``what_if=True`` or ``attacks="bm25"``;
    attacks may be objects, too, such as ``[attacks.BM25()]``. How to read what they do not say is guessed, and the
    guess is handed to ``say``, line by line.

    ``truth`` are true pairs where the ids of the two tables differ: a mapping such as ``{"p1": "q7"}``, or a frame or a
    file of two columns, in either direction. Two tables that have no id in common are refused without them, unless
    ``allow_unmatched=True`` asks how sure attacks are. ``scenario`` is a name such as ``"split"``, or an
    :class:`reidrisk.audit.Asked`; default: every question that the records can answer. ``budget`` is the time given,
    in reference seconds or as in ``"5min"``. The keyword ``engine``, such as ``"duckdb"``, is where targets are
    searched (:mod:`reidrisk.search.engines`); with it, two folders of Parquet or tables are audited where they are
    stored, and so are two files of traces with more than two million rows.

    >>> rows = [(who, day, (who * day) % 7) for who in range(30) for day in range(12)]
    >>> log = {name: list(cells) for name, cells in zip(("user", "day", "item"), zip(*rows))}
    >>> result = assess(log, seed=1, scenario="knows", budget="2s", say=None)
    >>> result.scenario["facts"], result.n_targets
    (4, 30)
    """
    sources = [table] if other is None else [table, other]
    refuse_unknown(said, [name for name in _KNOWN if name != "inputs"])
    engine = find_engine(said.pop("engine", None))
    named = tuple(str(one) for one in sources if isinstance(one, str | Path))
    stored = any(map(is_stored, named)) or (len(named) == 2 and scenario is None and for_engine(named))
    if isinstance(engine, Relational) and stored:
        if len(named) < 2:
            raise OptionError("an engine compares two stored tables; name both, as folders, files or tables")
        inputs = {"kind": "tables", "targets": str(table), "queries": str(other)}
        inputs |= {} if truth is None else {"truth": str(truth)}
        given = {"inputs": inputs, "seed": seed, "max_risk": max_risk, **said}
        given |= {} if budget is None else {"budget": seconds("budget", budget)}
        return run(AuditSpec(**given), progress, engine=engine)
    options = {name: said.pop(name) for name in AuditSpec.model_fields if name in said and name != "inputs"}
    reading = Reading(**said)
    files = tuple(str(source) for source in sources if isinstance(source, str | Path))
    saved: Any = InMemory()
    if len(files) == len(sources) and (truth is None or isinstance(truth, str | Path)):
        saved = Exports(files=files, truth=None if truth is None else str(truth), reading=reading)
    options |= {"inputs": saved, "seed": seed, "max_risk": max_risk, "scenario": scenario}
    own, options = _own_attacks(options)
    if budget is not None:
        options["budget"] = seconds("budget", budget)
    spec = AuditSpec(**options)
    heard = None if say is None else lambda note: _say(say, note)
    exports = read(sources, reading, spec.scenario, heard, spec.min_group)
    how: dict[str, Any] = {"every": reading.every, "amounts_given": reading.amount is not None}
    return audit_exports(exports, spec, truth=truth, **how, progress=progress, attacks=own, engine=engine)


def _own_attacks(options: dict[str, Any]) -> tuple[list[Attack[Any]], dict[str, Any]]:
    """Take attacks that are objects out of the options of a spec, which names attacks."""
    given = options.get("attacks")
    several = [given] if isinstance(given, Attack) else list(given) if isinstance(given, list | tuple) else []
    own = [one for one in several if isinstance(one, Attack)]
    named = tuple(one for one in several if not isinstance(one, Attack))
    return own, options | {"attacks": named} if own else options


def _say(say: Callable[[str], object], note: Note) -> None:
    from reidrisk.present import words

    say(words.sentence(note))
