"""`reidrisk release`: differentially private statistics, a model of them, synthetic users, and how good they are."""

from __future__ import annotations

import dataclasses
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reidrisk.base.errors import OptionError
from reidrisk.cli import output, release_inputs
from reidrisk.cli.audit import Json, Seed
from reidrisk.present.terms import Terms
from reidrisk.present.words import release as words

if TYPE_CHECKING:
    from reidrisk.release import NoiseBudget, Statistics

__all__ = ["release"]

release = typer.Typer(
    help="Give away statistics, a model and synthetic users instead of people's top sets.",
    invoke_without_command=True,
    rich_markup_mode="rich",
)

Sets = Annotated[Path, typer.Argument(help="Top sets of real people: one row per user, one list per epoch.")]
NTokens = Annotated[int | None, typer.Option(help="Size of the vocabulary, of tokens that are numbers.")]
Words = Annotated[Path | None, typer.Option(help="All labels there are: one per line, or a JSON list.")]


@release.callback()
def _menu(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@release.command("measure")
def measure(
    context: typer.Context,
    sets: Sets,
    epsilon: Annotated[float, typer.Option(help="Privacy budget: probabilities change by a factor of e to this.")],
    delta: Annotated[float, typer.Option(help="Privacy budget: added to any probability, far below 1 / users.")],
    out: Annotated[Path, typer.Option(help="Folder for the statistics and their privacy statement.")],
    budget: Annotated[str, typer.Option(help="'joint', one mechanism over all counts, or 'split' as published.")] = (
        "joint"
    ),
    epochs: Annotated[int | None, typer.Option(help="Measure only the first epochs, this many; default: all.")] = None,
    top_k: Annotated[
        int | None, typer.Option(help="Size of a full set; needed where the file's metadata does not declare it.")
    ] = None,
    n_tokens: NTokens = None,
    vocabulary: Words = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace statistics in the folder; the budget is spent once more.")
    ] = False,
    simulation: Annotated[
        bool, typer.Option("--simulation", help="Noise with a seed, for trying out; it protects nobody.")
    ] = False,
    seed: Annotated[int | None, typer.Option(help="Seed of the noise, with --simulation only.")] = None,
    as_json: Json = False,
) -> None:
    """Measure differentially private statistics of top sets, and write them with their privacy statement."""
    from reidrisk import release as api
    from reidrisk.privacy.accounting import check_budget
    from reidrisk.release.counts.layout import holds_statistics

    check_budget(epsilon, delta)
    if seed is not None and not simulation:
        raise OptionError(
            f"--seed {seed} was given for a real release; noise that protects people is never seeded: leave it out, "
            "or add --simulation to try"
        )
    output.check_folder(out)
    output.lock(context, out, is_folder=True)
    if not replace and holds_statistics(out):
        raise OptionError(
            f"{out} already holds statistics, and measuring again spends the budget again; give another folder, "
            "or --replace"
        )
    with output.progress_bar() as say:
        say("reading the sets", 0.0)
        people = release_inputs.declared_sets(sets, n_tokens, vocabulary, top_k)
        if epochs is not None:
            people = people.epochs(epochs)
        say("counting pairs, adding noise", 0.5)
        found = api.statistics(people, epsilon, delta, simulation, seed, budget)
        say("writing", 0.9)
        api.write_statistics(found, out)
    values = {"folder": str(out), "k": found.k, "n_tokens": found.n_tokens, "estimated_users": found.n_users}
    following = f"{shlex.join(['reidrisk', 'release', 'fit', str(out)])} --out model.safetensors"
    _show(found.statement, values, words.measured(found, Terms()), as_json, following)


@release.command("fit")
def fit(
    context: typer.Context,
    stats: Annotated[Path, typer.Argument(help="Folder of statistics, from `reidrisk release measure`.")],
    out: Annotated[Path, typer.Option(help="Write the model here (safetensors, or .json as published).")],
    types: Annotated[int, typer.Option(help="Number of types.")] = 500,
    epochs: Annotated[int, typer.Option(help="Epochs of the model; any number.")] = 4,
    steps: Annotated[int, typer.Option(help="Steps of the fit.")] = 2000,
    learning_rate: Annotated[float, typer.Option(help="Largest rate of the optimiser.")] = 0.1,
    device: Annotated[str | None, typer.Option(help="'cuda' or 'cpu'; a GPU where there is one.")] = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(help="File to continue from, written every minute and when stopped, removed at the end."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the start.")] = 0,
    as_json: Json = False,
) -> None:
    """Fit a mixture of types to released statistics; it looks at nothing else."""
    from reidrisk import release as api

    output.check_writable(out, checkpoint, inputs=(stats,))
    for path in filter(None, (out, checkpoint)):
        output.lock(context, path)
    targets = api.read_statistics(stats)
    with output.progress_bar() as say:
        try:
            model = api.fit_mixture(
                targets,
                types,
                epochs,
                seed,
                steps=steps,
                learning_rate=learning_rate,
                device=device,
                checkpoint=checkpoint,
                keep_checkpoint=True,
                progress=lambda step, of, value: say(f"fitting, J = {value:.3g}", step / of),
            )
        except KeyboardInterrupt:
            if checkpoint is not None and checkpoint.exists():
                output.remark(f"checkpoint: {checkpoint}; the same command goes on from there")
            raise
    api.write_parameters(model, out) if out.suffix == ".json" else model.save(out)
    if checkpoint is not None:  # not before the model is in its file: there may be no room for it
        checkpoint.unlink(missing_ok=True)
    report = model.report
    assert report is not None
    values = {"file": str(out), "n_types": types, "n_epochs": epochs, **report.to_dict()}
    following = f"{shlex.join(['reidrisk', 'release', 'sample', str(out)])} --users 1000000 --out users"
    _show(model.statement, values, words.fitted(report, Terms()), as_json, following)


@release.command("sample")
def sample(
    context: typer.Context,
    model: Annotated[Path, typer.Argument(help="Model, from `reidrisk release fit`.")],
    users: Annotated[int, typer.Option(help="Number of synthetic users.")],
    out: Annotated[Path, typer.Option(help="Folder for Parquet files of up to 1,048,576 users each.")],
    seed: Seed = None,
    as_json: Json = False,
) -> None:
    """Draw synthetic users from a model; sets that come out short stay short in the files."""
    from reidrisk import release as api
    from reidrisk.base.streams import checked_seed, fresh_seed
    from reidrisk.release.model.sample import holds_users

    output.check_folder(out)
    output.lock(context, out, is_folder=True)
    if holds_users(out):
        raise OptionError(f"{out} already holds users; give another folder, so that two samples are not mixed")
    known = release_inputs.read_model(model)
    seed = fresh_seed() if seed is None else checked_seed(seed)
    with output.progress_bar() as say:
        files = api.write_users(
            known, users, seed, out, progress=lambda done, of: say(f"{done:,} users drawn", done / of)
        )
    assert known.statement is not None
    stated = known.statement.after("synthetic users were drawn from the model")
    values = {"folder": str(out), "files": [str(file) for file in files], "users": users, "seed": seed}
    _show(stated, values, words.drawn(users, len(files), str(out), seed, Terms()), as_json)


@release.command("validate")
def validate(
    stats: Annotated[Path, typer.Argument(help="Folder of statistics, from `reidrisk release measure`.")],
    model: Annotated[Path, typer.Argument(help="Model, from `reidrisk release fit`.")],
    out: Annotated[Path, typer.Option(help="Write the public report here (one offline HTML file).")],
    users: Annotated[Path | None, typer.Option(help="Folder of synthetic users to compare as well.")] = None,
    canary: Annotated[
        int, typer.Option(help="Releases with and without a canary that attack noise of the stated size; 0: none.")
    ] = 10_000,
    real: Annotated[
        Path | None, typer.Option(help="Top sets of the real people, for the internal report; private.")
    ] = None,
    internal: Annotated[
        Path | None, typer.Option(help="Write the internal report here; no privacy statement covers it.")
    ] = None,
    trials: Annotated[int, typer.Option(help="Trials of the attacks, real and synthetic; 0: none.")] = 10,
    queries: Annotated[int, typer.Option(help="People to be found again in each trial.")] = 10_240,
    noise: Annotated[float, typer.Option(help="Probability that a site is shown a random token.")] = 0.05,
    no_refit: Annotated[
        bool, typer.Option("--no-refit", help="Use the one model in all trials instead of fitting anew for each.")
    ] = False,
    device: Annotated[str | None, typer.Option(help="Where to fit anew: 'cuda' or 'cpu'.")] = None,
    top_k: Annotated[int | None, typer.Option(help="Size of a full set; default: that of the model.")] = None,
    n_tokens: NTokens = None,
    vocabulary: Words = None,
    seed: Seed = None,
    as_json: Json = False,
) -> None:
    """Compare with the released statistics, and, in another report, with real people.

    Exit 1 where the noise fails, 3 where it could not be examined: that is no pass.
    """
    from reidrisk import release as api
    from reidrisk.base.streams import checked_seed, fresh_seed
    from reidrisk.present import html
    from reidrisk.present.console import print_page
    from reidrisk.present.pages import release as pages

    if (real is None) != (internal is None):
        raise OptionError("give --real and --internal together: the internal report compares with the real people")
    output.check_writable(out, internal, inputs=(model, real, vocabulary))
    for path in (out, internal):
        output.check_report(path)
    if internal is not None:
        release_inputs.keep_apart(internal, (stats, users))
    seed = fresh_seed() if seed is None else checked_seed(seed)
    targets, known = api.read_statistics(stats), release_inputs.read_model(model)
    with output.progress_bar() as say:
        say("comparing with the statistics", 0.0)
        drawn, stated = (None, None) if users is None else api.read_users(users)
        public = api.public_validation(known, targets, drawn, stated)
        say("looking at the noise", 0.1)
        fit, budget = api.noise_fit(targets), api.noise_budget(targets)
        found = api.Validation(public, fit, budget, _attacked(api, targets, budget, canary, seed))
        html.write(pages.public_page(found), out)
        if real is not None and internal is not None:
            people = release_inputs.real_sets(real, known, n_tokens, vocabulary, top_k)
            compared = api.internal_validation(
                people,
                targets,
                known,
                noise=noise,
                trials=trials,
                queries=queries,
                models=None if no_refit or trials < 2 else api.refitted(known, targets, device),
                seed=seed,
                progress=lambda stage, share: say(stage, 0.2 + 0.8 * share),
            )
            found = dataclasses.replace(found, internal=compared)
            html.write(pages.internal_page(compared), internal)
    if as_json:
        output.print_json({name: part for name, part in found.to_dict().items() if part or name != "internal"})
    else:
        print_page(pages.public_page(found), output.console())
        if found.internal is not None:
            print_page(pages.internal_page(found.internal), output.console())
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
    from reidrisk.present.console import print_page
    from reidrisk.present.pages.release import made_page

    if as_json:
        output.print_json({**values, "privacy": stated.to_dict()})
        return
    print_page(made_page(stated, said), output.console())
    if following:
        output.say("", "Now try:", "", f"  {following}")


def _attacked(api: Any, targets: Statistics, budget: NoiseBudget, trials: int, seed: int) -> Any:
    if trials == 0:
        return None
    # Without a size of the noise, or with that of other tables, there is nothing to draw.
    if not budget.promised:
        output.remark("the canary is left out: there is no stated noise to attack")
        return None
    statement = targets.statement
    assert statement is not None
    return api.canary(statement, targets.k, targets.n_epochs, trials, seed if statement.simulation else None)
