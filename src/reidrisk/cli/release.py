"""`reidrisk release`: differentially private statistics, a model of them, synthetic users, and how good they are."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from reidrisk.base.errors import OptionError
from reidrisk.cli import output
from reidrisk.cli.groups import chosen, takes
from reidrisk.cli.parameters import Json, Seed, argument, menu, option
from reidrisk.present.terms import Terms
from reidrisk.present.words import release as words
from reidrisk.release.spec import FitSpec, MeasureSpec, SetsSpec, ValidationSpec

if TYPE_CHECKING:
    from reidrisk.release import TypeMixture

release = menu("Give away statistics, a model and synthetic users instead of people's top sets.")


@release.command("measure")
@takes(MeasureSpec, SetsSpec)
def measure(
    context: typer.Context,
    sets: Path = argument(..., "Top sets of real people: one row per user, one list per epoch."),
    epsilon: float = option(..., "Privacy budget: probabilities change by a factor of e to this."),
    delta: float = option(..., "Privacy budget: added to any probability, far below 1 / users."),
    out: Path = option(..., "Folder for the statistics and their privacy statement."),
    replace: bool = option(False, "Replace statistics in the folder; this spends the budget again.", "--replace"),
    as_json: Json = False,
    **options: Any,
) -> None:
    """Measure differentially private statistics of top sets, and write them with their privacy statement."""
    from reidrisk import release as api
    from reidrisk.privacy.accounting import check_budget
    from reidrisk.release.counts.layout import holds_statistics
    from reidrisk.release.declared import declared_sets

    spec, declared = chosen(MeasureSpec, options), chosen(SetsSpec, options)
    check_budget(epsilon, delta)
    if spec.seed is not None and not spec.simulation:
        seeded = f"--seed {spec.seed} was given for a real release; noise that protects people is never seeded"
        raise OptionError(f"{seeded}: leave it out, or add --simulation to try")
    output.check_folder(out)
    output.lock(context, out, is_folder=True)
    if not replace and holds_statistics(out):
        spent = f"{out} already holds statistics, and measuring again spends the budget again"
        raise OptionError(f"{spent}; give another folder, or --replace")
    with output.progress_bar() as say:
        say("reading the sets", 0.0)
        people = declared_sets(sets, declared)
        if spec.epochs is not None:
            people = people.epochs(spec.epochs)
        say("counting pairs, adding noise", 0.5)
        found = api.statistics(people, epsilon, delta, spec.simulation, spec.seed, spec.budget)
        say("writing", 0.9)
        api.write_statistics(found, out)
    values = {"folder": str(out), "k": found.k, "n_tokens": found.n_tokens, "estimated_users": found.n_users}
    following = f"{shlex.join(['reidrisk', 'release', 'fit', str(out)])} --out model.safetensors"
    _show(found.statement, values, words.measured(found, Terms()), as_json, following)


@release.command("fit")
@takes(FitSpec)
def fit(
    context: typer.Context,
    stats: Path = argument(..., "Folder of statistics, from `reidrisk release measure`."),
    out: Path = option(..., "Write the model here (safetensors, or .json as published)."),
    checkpoint: Path | None = option(None, "File to continue from, written every minute, removed at the end."),
    as_json: Json = False,
    **options: Any,
) -> None:
    """Fit a mixture of types to released statistics; it looks at nothing else."""
    from reidrisk import release as api

    spec = chosen(FitSpec, options)
    output.check_writable(out, checkpoint, inputs=(stats,))
    for path in filter(None, (out, checkpoint)):
        output.lock(context, path)
    targets = api.read_statistics(stats)
    with output.progress_bar() as say:
        try:
            how = spec.model_dump(include={"steps", "learning_rate", "device"})
            kept: dict[str, Any] = {"checkpoint": checkpoint, "keep_checkpoint": True, "progress": say}
            model = api.fit_mixture(targets, spec.types, spec.epochs, spec.seed, **how, **kept)
        except KeyboardInterrupt:
            if checkpoint is not None and checkpoint.exists():
                output.remark(f"checkpoint: {checkpoint}; the same command goes on from there")
            raise
    api.write_parameters(model, out) if out.suffix == ".json" else model.save(out)
    if checkpoint is not None:  # not before the model is in its file: there may be no room for it
        checkpoint.unlink(missing_ok=True)
    report = model.report
    assert report is not None
    values = {"file": str(out), "n_types": spec.types, "n_epochs": spec.epochs, **report.to_dict()}
    following = f"{shlex.join(['reidrisk', 'release', 'sample', str(out)])} --users 1000000 --out users"
    _show(model.statement, values, words.fitted(report, Terms()), as_json, following)


@release.command("sample")
def sample(
    context: typer.Context,
    model: Path = argument(..., "Model, from `reidrisk release fit`."),
    users: int = option(..., "Number of synthetic users."),
    out: Path = option(..., "Folder for Parquet files of up to 1,048,576 users each."),
    seed: Seed = None,
    as_json: Json = False,
) -> None:
    """Draw synthetic users from a model; sets that come out short stay short in the files."""
    from reidrisk import release as api
    from reidrisk.base.streams import seed_or_fresh
    from reidrisk.release.model.sample import holds_users

    output.check_folder(out)
    output.lock(context, out, is_folder=True)
    if holds_users(out):
        raise OptionError(f"{out} already holds users; give another folder, so that two samples are not mixed")
    known = _read_model(model)
    seed = seed_or_fresh(seed)
    with output.progress_bar() as say:
        files = api.write_users(known, users, seed, out, progress=say)
    assert known.statement is not None
    stated = known.statement.after("synthetic users were drawn from the model")
    values = {"folder": str(out), "files": [str(file) for file in files], "users": users, "seed": seed}
    _show(stated, values, words.drawn(users, len(files), str(out), seed, Terms()), as_json)


@release.command("validate")
@takes(ValidationSpec, SetsSpec)
def validate(
    stats: Path = argument(..., "Folder of statistics, from `reidrisk release measure`."),
    model: Path = argument(..., "Model, from `reidrisk release fit`."),
    out: Path = option(..., "Write the public report here (one offline HTML file)."),
    users: Path | None = option(None, "Folder of synthetic users to compare as well."),
    real: Path | None = option(None, "Top sets of the real people, for the internal report; private."),
    internal: Path | None = option(None, "Write the internal report here; no privacy statement covers it."),
    as_json: Json = False,
    **options: Any,
) -> None:
    """Compare with the released statistics, and, in another report, with real people.

    Exit 1 where the noise fails, 3 where it could not be examined: that is no pass.
    """
    from reidrisk import release as api
    from reidrisk.present import html
    from reidrisk.present.pages import release as pages
    from reidrisk.release.declared import real_sets
    from reidrisk.release.validate import run

    spec, declared = chosen(ValidationSpec, options), chosen(SetsSpec, options)
    if (real is None) != (internal is None):
        raise OptionError("give --real and --internal together: the internal report compares with the real people")
    output.check_writable(out, internal, inputs=(model, real, declared.vocabulary))
    output.check_report(out)
    output.check_report(internal)
    if internal is not None:
        _keep_apart(internal, (stats, users))
    targets, known = api.read_statistics(stats), _read_model(model)
    with output.progress_bar() as say:
        drawn = None if users is None else api.read_users(users)
        people = None if real is None else real_sets(real, known, declared)
        found = run.validate(targets, known, spec, drawn, people, say)
        html.write(pages.public_page(found), out)
        if found.internal is not None and internal is not None:
            html.write(pages.internal_page(found.internal), internal)
    if spec.canary and found.canary is None:
        output.remark("the canary is left out: there is no stated noise to attack")
    if as_json:
        output.print_json({name: part for name, part in found.to_dict().items() if part or name != "internal"})
    else:
        output.show(pages.public_page(found))
        if found.internal is not None:
            output.show(pages.internal_page(found.internal))
    output.remark(f"public report: {out}")
    if internal is not None:
        output.remark(f"internal report, not for publication: {internal}")
    if found.failed:
        raise typer.Exit(1)
    if found.undecided:
        output.remark("undecided: what was not examined has not passed")
        raise typer.Exit(3)


def _show(stated: Any, values: dict[str, Any], said: str, as_json: bool, following: str = "") -> None:
    """Print what was made, what protects the people behind it, and the command that may follow."""
    from reidrisk.present.pages.release import made_page

    output.show(made_page(stated, said), {**values, "privacy": stated.to_dict()}, as_json)
    if following and not as_json:
        output.follow(following)


def _read_model(path: Path) -> TypeMixture:
    """Read a model of either layout; both need a privacy statement."""
    from reidrisk import release as api

    return api.read_parameters(path) if path.suffix == ".json" else api.TypeMixture.load(path)


def _keep_apart(internal: Path, published: tuple[Path | None, ...]) -> None:
    """Refuse an internal report in a folder that is going to be published."""
    for folder in published:
        if folder is not None and folder.resolve() in internal.resolve().parents:
            raise OptionError(f"{folder} is for publication; keep the internal report apart from it, not {internal}")
