"""`reidrisk gate`: whether the risk of an audit is within a limit."""

from functools import partial
from pathlib import Path
from typing import Any, cast

import typer

from reidrisk.base import OptionError
from reidrisk.base.options import share
from reidrisk.cli import output
from reidrisk.cli.parameters import Json, argument, option
from reidrisk.cli.results import read_result


def gate(
    result: Path = argument(..., "Result of an audit (its --result file)."),
    max_risk: str = option(..., "Highest acceptable risk, such as 0.03 or 3%."),
    require: list[str] | None = option(None, "Attack that must have run; repeatable."),
    told: str | None = option(None, "What the attacker knows of each event of a log: what, day or row. Default: day."),
    junit: Path | None = option(None, "Write the answer here as JUnit XML, for a pipeline."),
    summary: Path | None = option(None, "Write the answer here as Markdown, for a pull request."),
    inputs: tuple[Path, Path] | None = option(
        None, "The two tables at hand, targets and queries: refuse unless they are those of the audit."
    ),
    one: Path | None = option(None, "The one table at hand, where one was audited: the same check.", "--input"),
    fingerprint_key: Path | None = option(None, "The key of the audit, where its sums are keyed."),
    as_json: Json = False,
) -> None:
    """Say whether the strongest attack is within a limit: pass (exit 0), fail (1) or undecided (3)."""
    from reidrisk.audit import gate as hold
    from reidrisk.io.atomic import write_text
    from reidrisk.present import gate_files, words
    from reidrisk.present.words.audit import terms_of

    output.check_writable(junit, summary, inputs=(result,))
    found = read_result(result)
    if inputs is not None and one is not None:
        raise OptionError("give one table with --input, or two with --inputs")
    if inputs is not None or one is not None:
        _check_inputs(found, inputs or (one,), fingerprint_key)
    elif fingerprint_key is not None:
        raise OptionError("a key compares tables; name them with --inputs TARGETS QUERIES, or one with --input")
    answer = hold(found, share("--max-risk", max_risk), require or (), cast("Any", told))
    said = words.reading(answer, terms_of(found))
    files = [(junit, gate_files.junit(answer, said)), (summary, gate_files.summary(found, answer, said))]
    output.do_each(
        [(path, partial(write_text, text)) for path, text in files],
        partial(output.answer, answer.to_dict(), said, as_json),
    )
    raise typer.Exit({"pass": 0, "fail": 1, "undecided": 3}[answer.answer])


def _check_inputs(found: Any, inputs: tuple[Path | None, ...], key: Path | None) -> None:
    """Refuse a result that is not about these tables, one or two."""
    from reidrisk.audit import differing, read_key

    if found.fingerprints is None:
        raise OptionError("the result holds no sums of its tables; audit again with --fingerprint-key FILE")
    roles = ("targets", "queries") if len(inputs) == 2 else ("table",)
    if not set(roles) <= set(found.fingerprints.sums):
        audited = "one table" if "table" in found.fingerprints.sums else "two tables"
        raise OptionError(f"the audit was of {audited}; name them with --input FILE, or --inputs TARGETS QUERIES")
    files: dict[str, str | Path | None] = dict(zip(roles, inputs, strict=True))
    others = differing(found.fingerprints, files, None if key is None else read_key(key))
    if others:
        what = f"{files[others[0]]} is not the table that was audited as the {others[0]} (or the key is another)"
        raise OptionError(f"{what}; audit the tables at hand")
