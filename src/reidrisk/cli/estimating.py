"""What a long audit will take, said before it starts: asked for with --estimate, and on a terminal."""

import sys
from typing import Any

from reidrisk.base.errors import OptionError
from reidrisk.cli import output


def estimated(spec: Any, engine: Any, asked: bool, as_json: bool) -> bool:
    """Say what an audit will take; return whether that was all that was asked for.

    Without being asked, it is said on a terminal alone, of stored tables that may take more than a minute.
    """
    if not asked and not sys.stderr.isatty():
        return False
    from reidrisk.audit.spec import Tables
    from reidrisk.audit.stored import estimate as timing
    from reidrisk.audit.stored.opening import IN_MEMORY, for_engine
    from reidrisk.search.engines.relational import Relational

    inputs = spec.inputs
    stored = isinstance(inputs, Tables) and for_engine((inputs.targets, inputs.queries))
    if not stored or not isinstance(engine, Relational):
        if asked:
            what = "--estimate is for folders, tables or files of more than two million rows"
            raise OptionError(f"{what}, with --engine duckdb or spark; others tell as they go")
        return False
    n_rows = timing.n_rows_of(inputs, engine)
    if asked and n_rows <= IN_MEMORY:
        what = f"{n_rows:,} rows are fetched and audited in memory, within about the time of --budget"
        raise OptionError(f"{what}; just run it")
    if not asked and n_rows < timing.LONG:
        return False
    with output.progress_bar() as progress:
        found = timing.estimate(spec, engine, progress)
    if asked and as_json:
        output.print_json(found.to_dict())
    elif asked:
        output.say(_sentence(found))
    elif found.seconds > 60.0:
        output.remark(_sentence(found))
    return asked


def _sentence(found: Any) -> str:
    """Say an estimate in one line."""
    parts = [f"about {_time(found.seconds)}"]
    if found.processor:
        parts.append(f"{_time(found.processor)} of processors")
    parts += [f"{found.memory / 1e9:.1f} GB of memory", f"{found.disk / 1e9:.1f} GB of disk"]
    said = f"estimate: {', '.join(parts)}, for {found.people:,} records ({found.timed:,} were timed)"
    return f"{said}; {found.spilled / 1e9:.1f} GB more memory would keep it off the disk" if found.spilled else said


def _time(seconds: float) -> str:
    """Return a time as people say it.

    >>> _time(8.2), _time(400), _time(9_000)
    ('8 s', '7 min', '2.5 h')
    """
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6_000 else f"{seconds / 3_600:.1f} h"
