"""`reidrisk compare`: the difference of two audits."""

from pathlib import Path

from reidrisk.cli import output
from reidrisk.cli.parameters import Json, argument, option
from reidrisk.cli.results import read_per_person, read_result


def compare(
    before: Path = argument(..., "Result of an audit (its --result file)."),
    after: Path = argument(..., "Result of an audit of the same people after a change."),
    per_person: tuple[Path, Path] | None = option(
        None, "The files that both audits kept with --keep-per-person: the difference is then paired."
    ),
    as_json: Json = False,
) -> None:
    """Say how much lower the risk of a second audit is."""
    from reidrisk.audit.comparison import compare as difference
    from reidrisk.present import words
    from reidrisk.present.words.audit import terms_of

    first = read_result(before)
    one, two = per_person or (None, None)
    kept = None if one is None or two is None else (read_per_person(one), read_per_person(two))
    found = difference(first, read_result(after), kept)
    output.answer(found.to_dict(), words.reading(found, terms_of(first)), as_json)
