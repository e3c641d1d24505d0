"""`reidrisk bandits`: what sharing people's behaviour gives away, and what hiding it costs a recommender."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from reidrisk.base.errors import OptionError
from reidrisk.base.wording import percent
from reidrisk.cli import output
from reidrisk.cli.again import again
from reidrisk.cli.audit import Json, Seed

if TYPE_CHECKING:
    from reidrisk.bandits import Behaviour, Tradeoff
    from reidrisk.base.results import Risk

__all__ = ["bandits"]

_FORMATS = ("log", "fitbit", "casas", "endomondo", "matrices")
_NOISE = ("laplace", "svd")
_ATTACKS = ("scoreboard", "likelihood")
_VARIANCES = (0.0, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0)
_RANKS = 8  # at most so many when none are given
_KNOWN = 91  # cells that the paper's attacker knows of a large matrix; all but two of a small one
_USERS_A_CLUSTER = 5

bandits = typer.Typer(
    help="Share what a recommender learnt about people: what it gives away, and what hiding it costs.",
    invoke_without_command=True,
    rich_markup_mode="rich",
)


@bandits.callback()
def _menu(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@bandits.command("tradeoff")
def tradeoff(
    context: typer.Context,
    behaviour: Annotated[Path, typer.Argument(help="Activity log with the columns user, timestamp, state.")],
    file_format: Annotated[
        str,
        typer.Option("--format", help="'log'; or as published: 'fitbit', 'casas', 'endomondo'; or 'matrices' (NPZ)."),
    ] = "log",
    states: Annotated[
        Path | None, typer.Option(help="All states there are: one a line, or a JSON list; others are refused.")
    ] = None,
    max_gap: Annotated[float | None, typer.Option(help="Count nothing over a longer silence, in seconds.")] = None,
    clusters: Annotated[
        int | None, typer.Option(help="Number of clusters, also twice and thrice; one for 5 users when missing.")
    ] = None,
    strategy: Annotated[
        list[str] | None, typer.Option(help="Such as 'own' or 'clusters:7'; repeatable; the paper's when missing.")
    ] = None,
    noise: Annotated[str, typer.Option(help="On top of each strategy: 'laplace' or 'svd'.")] = "laplace",
    amounts: Annotated[
        str | None, typer.Option(help="Variances of noise, or ranks, such as 0,1e-6,1e-4; a range when missing.")
    ] = None,
    n_aux: Annotated[
        int | None, typer.Option(help="Cells the attacker knows; 91 when missing, all but 2 of a small matrix.")
    ] = None,
    unit: Annotated[
        str,
        typer.Option(
            help="Of time in a log: so long a stay counts as one transition; 'second', 'minute', … or seconds."
        ),
    ] = "second",
    alpha: Annotated[
        float | None, typer.Option(help="Cells that differ by less agree; default: 0.001, or finer for a long log.")
    ] = None,
    weights: Annotated[
        str, typer.Option(help="Of cells: 'inverse entropy' (the paper's formula), 'uniform' or 'entropy'.")
    ] = "inverse entropy",
    rewards: Annotated[str, typer.Option(help="'hard' ones tell the state hardly at all; or 'easy'.")] = "hard",
    runs: Annotated[int, typer.Option(help="Runs of the recommender at each point.")] = 500,
    steps: Annotated[int, typer.Option(help="Recommendations in a run.")] = 2500,
    releases: Annotated[int, typer.Option(help="Draws of the noise at each point.")] = 5,
    quick: Annotated[bool, typer.Option("--quick", help="Leave out the attacker who knows the mechanism.")] = False,
    attack: Annotated[
        str, typer.Option(help="Whose success the chart and the front show: 'scoreboard' or 'likelihood'.")
    ] = "scoreboard",
    level: Annotated[float, typer.Option(help="Level of the intervals.")] = 0.95,
    out: Annotated[Path | None, typer.Option(help="Write the report here (one offline HTML file).")] = None,
    chart: Annotated[Path | None, typer.Option(help="Write the chart here (PNG or SVG).")] = None,
    seed: Seed = None,
    as_json: Json = False,
) -> None:
    """Measure regret and de-anonymisation of many ways to share, and mark those that no other beats in both."""
    from reidrisk import bandits as api
    from reidrisk.base.streams import checked_seed, fresh_seed

    _chosen("--format", file_format, _FORMATS)
    _chosen("--noise", noise, _NOISE)
    _chosen("--attack", attack, _ATTACKS)
    if attack == "likelihood" and quick:
        raise OptionError("--quick leaves out the attack 'likelihood'; leave out one of the two")
    if clusters is not None and strategy:
        raise OptionError(
            f"--clusters is for the paper's strategies; write --strategy clusters:{clusters} beside the others"
        )
    if max_gap is not None and not max_gap >= 0:
        raise OptionError(f"--max-gap must be a number of seconds of at least 0, not {max_gap:g}")
    asked = None if amounts is None else _numbers(amounts, noise)
    output.check_writable(out, chart, inputs=(behaviour, states))
    output.check_report(out)
    _check_chart(chart)
    seed = fresh_seed() if seed is None else checked_seed(seed)
    with output.progress_bar() as say:
        say("reading", 0.0)
        users = _read(behaviour, file_format, states, max_gap, seed, unit)
        n, d = users.records.shape[:2]
        say("making clusters", 0.02)
        found = api.tradeoff(
            users,
            strategy or _strategies(n, clusters),
            asked if asked is not None else _range(noise, d),
            min(_KNOWN, d * d - 2) if n_aux is None else n_aux,
            noise=noise,
            alpha=alpha,
            weights=weights,
            rewards=rewards,
            runs=runs,
            steps=steps,
            releases=releases,
            likelihood=not quick,
            seed=seed,
            level=level,
            attack=attack,
            progress=lambda stage, share: say(stage, 0.05 + 0.95 * share),
        )
    command = again(context, "bandits", "tradeoff", left_out=("seed", "as_json"))
    _write(found, out, chart, attack, f"{command} --seed {seed}")
    if as_json:
        output.print_json(found.to_dict())
        return
    _print(found, attack)


def _read(path: Path, file_format: str, states: Path | None, max_gap: float | None, seed: int, unit: str) -> Behaviour:
    from reidrisk import bandits as api
    from reidrisk import io

    if file_format in ("fitbit", "matrices") and states is not None:
        raise OptionError(f"--states is for logs; the format '{file_format}' has its own")
    if file_format in ("fitbit", "endomondo", "matrices") and max_gap is not None:
        raise OptionError(f"--max-gap is for logs and sensors; the format '{file_format}' knows how long a state lasts")
    if file_format != "log" and unit != "second":
        raise OptionError(f"--unit is for logs; the format '{file_format}' has its own")
    names = None if states is None else list(io.read_vocabulary(states).labels)
    if file_format == "fitbit":
        return api.read_fitbit(path)
    if file_format == "casas":
        return api.read_casas(path, names, max_gap, seed=seed)
    if file_format == "endomondo":
        return api.read_endomondo(path, names)
    if file_format == "matrices":
        return api.read_matrices(path)
    try:
        length: str | float = float(unit)
    except ValueError:
        length = unit
    return api.from_log(path, names, max_gap, unit=length)


def _strategies(n_users: int, clusters: int | None) -> list[str]:
    """Return the paper's strategies; multiples of a number of clusters that nobody asked for must fit."""
    from reidrisk.bandits import paper_strategies

    if clusters is not None and not 1 <= clusters <= n_users:
        raise OptionError(f"there are {n_users} users, so no {clusters} clusters; choose from 1 to {n_users}")
    count = max(2, n_users // _USERS_A_CLUSTER) if clusters is None else clusters
    multiples = {f"clusters:{times * count}" for times in (1, 2, 3) if times * count > n_users}
    neighbours = {"neighbour:2"} if n_users < 3 else set()
    return [name for name in paper_strategies(count) if name not in multiples | neighbours]


def _range(noise: str, n_states: int) -> list[float]:
    """Return the amounts of noise when none are given, the least first."""
    if noise == "laplace":
        return list(_VARIANCES)
    count = min(_RANKS, n_states)
    ranks = {round(1 + (n_states - 1) * i / (count - 1)) for i in range(count)}
    return [float(rank) for rank in sorted(ranks, reverse=True)]


def _numbers(text: str, noise: str) -> list[float]:
    values = []
    for part in text.split(","):
        try:
            value = float(part)
        except ValueError as error:
            raise OptionError(f"--amounts holds {part.strip()!r}; give numbers such as 0,1e-6,1e-4") from error
        if not math.isfinite(value):
            raise OptionError(f"--amounts holds {part.strip()!r}; give finite numbers such as 0,1e-6,1e-4")
        if noise == "svd" and value != int(value):
            raise OptionError(f"--amounts holds {part.strip()!r}; ranks are whole numbers such as 10,5,1")
        values.append(value)
    return values


def _chosen(option: str, given: str, allowed: tuple[str, ...]) -> None:
    if given not in allowed:
        raise OptionError(f"{option} must be one of {', '.join(allowed)}, not {given!r}")


def _check_chart(path: Path | None) -> None:
    from reidrisk.base.extras import require

    if path is None:
        return
    if path.suffix.lower() not in (".png", ".svg"):
        raise OptionError(f"the chart is a picture; give it a name that ends in .png or .svg, not {path.name!r}")
    for module in ("altair", "vl_convert"):
        require(module, "report", "the chart")


def _write(found: Tradeoff, out: Path | None, chart: Path | None, attack: str, command: str) -> None:
    if chart is not None:
        from reidrisk.report import save_chart
        from reidrisk.report.tradeoff_chart import tradeoff_chart

        save_chart(tradeoff_chart(found, attack), chart)
        output.remark(f"written: {chart}")
    if out is not None:
        from reidrisk.report.tradeoff import write_tradeoff

        write_tradeoff(found, out, command, attack)
        output.remark(f"written: {out}")


def _found(risk: Risk) -> str:
    """Write a rate with its interval, short enough for two of them in a row of the table."""
    return f"{percent(risk.rate)} ({percent(risk.low).removesuffix(' %')}-{percent(risk.high)})"


def _print(found: Tradeoff, attack: str) -> None:
    """Print what no other choice beats, what each strategy gives without noise, and what was assumed."""
    from reidrisk.report.tradeoff import caution
    from reidrisk.report.tradeoff_chart import amount_text, strategy_label

    screen = output.console()
    screen.print(f"\n{found.reading}\n", highlight=False)
    front = found.front(attack)
    first = {p.strategy: p for p in reversed(found.points)}  # the least noise of each strategy
    shown = [p for p in found.points if p in front or p is first[p.strategy]]
    stronger = found.points[0].likelihood is not None
    columns = ["", "each receives", "on top", "regret", "found", *(["mechanism known"] if stronger else []), "ADS"]
    table = Table(*columns, title="Choices that no other beats in both (*), and each one with the least on top")
    for column in table.columns[3:]:
        column.justify = "right"
    for p in shown:
        cells: list[Any] = [
            "*" if p in front else "",
            strategy_label(p.strategy),
            amount_text(p),
            f"{p.regret.mean:,.0f} ({p.regret.low:,.0f} to {p.regret.high:,.0f})",
            _found(p.risk),
        ]
        if p.likelihood is not None:
            cells.append(_found(p.likelihood))
        table.add_row(*cells, f"{p.ads:.2f}")
    screen.print(table)
    rest = len(found.points) - len(shown)
    if rest:
        screen.print(f"{rest} further choices: --json or --out.", highlight=False)
    screen.print(
        f"\nRegret: {found.least_regret:,.0f} with everyone's true matrix, {found.blind_regret:,.0f} by blind choice. "
        f"A guess finds {percent(found.guess)}.",
        highlight=False,
    )
    if caution(found, attack):
        screen.print(f"\n{caution(found, attack)}", highlight=False)
    screen.print("\nAssumed:")
    for assumption in found.assumptions:
        screen.print(f"- {assumption}", highlight=False)
    screen.print("- The noise is a simulation to measure with; it must not protect real people's records.")
    screen.print(f"Seed {found.seed}.")
