"""`reidrisk study`: published experiments, run again beside the published numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from reidrisk.base.streams import checked_seed
from reidrisk.cli import output
from reidrisk.cli.parameters import Json, menu
from reidrisk.present.console import harmless
from reidrisk.present.words.frequencies import two_digits

__all__ = ["study"]

study = menu("Run published experiments again, beside the published numbers.")


@study.command("list")
def list_studies(
    missing: Annotated[bool, typer.Option("--missing", help="Only those whose data is not here, and which.")] = False,
    as_json: Json = False,
) -> None:
    """List the studies: what each one shows, its published size, how long that takes, and whether its data is here."""
    from reidrisk_studies.registry import STUDIES
    from reidrisk_studies.sources import missing_data

    gaps = {known.name: missing_data(known.needs) for known in STUDIES.values()}
    shown = [known for known in STUDIES.values() if gaps[known.name] or not missing]
    if as_json:
        output.print_json([_entry(known, gaps[known.name]) for known in shown])
        return
    if missing:
        output.say(*(f"{known.name}: {'; '.join(gaps[known.name])}." for known in shown))
        return
    table = Table("study", "what it shows", "reference", "users", "time", "data")
    table.columns[0].no_wrap = True
    table.columns[3].justify = "right"
    for known in shown:
        time = _time(known.estimate(known.users))
        data = "none" if not known.needs else "not all here" if gaps[known.name] else "here"
        table.add_row(*map(harmless, (known.name, known.title, known.reference, f"{known.users:,}", time, data)))
    output.console().print(table)
    if any(gaps.values()):
        output.remark("`reidrisk study list --missing` says which files are not here, and what stands in for them.")


def _entry(known: Any, gaps: tuple[str, ...]) -> dict[str, Any]:
    from reidrisk_studies.sources import SOURCES, state

    data = [
        {
            "name": source.name,
            "origin": source.origin,
            "licence": source.licence,
            "without": source.without,
            "files": [{"path": path, "sha256": sha, "state": state(path, sha)} for path, sha in source.files],
        }
        for source in (SOURCES[name] for name in known.needs)
    ]
    names = ("name", "title", "reference", "users")
    return {name: getattr(known, name) for name in names} | {"data": data, "missing": list(gaps)}


@study.command("run")
def run_study(
    name: Annotated[list[str], typer.Argument(metavar="NAME", help="Names of the studies, see `reidrisk study list`.")],
    out: Annotated[Path | None, typer.Option(help="Write NAME.csv, NAME.png and NAME.md into this folder.")] = None,
    users: Annotated[int | None, typer.Option(help="Simulated people; default: as many as published.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of every random draw.")] = 0,
    skip_missing: Annotated[
        bool, typer.Option("--skip-missing", help="Leave out studies that cannot be run without their data.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Run studies one after the other; print the published figures beside ours."""
    import reidrisk_studies as studies
    from reidrisk_studies.data import MissingDataError

    chosen = [(studies.find(one), studies.find(one).size(users)) for one in dict.fromkeys(name)]
    checked_seed(seed)
    if out is not None:
        # Before the long job, not after it.
        studies.need_charts()
        output.check_folder(out)
    answers, left_out = [], list[str]()
    unheard: BrokenPipeError | None = None
    for known, n in chosen:
        output.remark(f"{known.title}, {n:,} users: about {_time(known.estimate(n))} on two cores.")
        try:
            with output.progress_bar() as progress:
                found = studies.run(known.name, users=n, seed=seed, progress=progress)
        except MissingDataError as missing:
            if not skip_missing:
                raise
            left_out.append(f"left out: {known.name}: {missing}")
            continue
        written = studies.write(found, out) if out is not None else ()
        answers.append(found.to_dict() | {"files": [str(path) for path in written]})
        if not as_json and unheard is None:
            try:
                _print(found)
            except BrokenPipeError as gone:
                if out is None:
                    raise
                unheard = gone  # the other studies still have files to write
        for path in written:
            output.remark(f"written: {path}")
    for line in left_out:
        output.remark(line)
    if unheard is not None:
        raise unheard
    if as_json:
        output.print_json(answers[0] if len(answers) == 1 else answers)


def _print(found: Any) -> None:
    columns, title = ("quantity", "published", "ours", "why they differ"), harmless(found.reference)
    table = Table(*columns, title=title, show_lines=True)
    for compared in found.comparisons:
        table.add_row(*map(harmless, (compared.quantity, compared.published, compared.ours, compared.why)))
    output.console().print(table)
    output.say(*(f"Made without all of its data: {line}." for line in found.without))
    output.say(*(f"- {assumption}" for assumption in found.assumptions))
    output.say("", f"Seed {found.seed}; {found.users:,} users.")


def _time(seconds: float) -> str:
    return f"{two_digits(seconds)} seconds" if seconds < 100 else f"{two_digits(seconds / 60)} minutes"
