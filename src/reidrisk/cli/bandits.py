"""`reidrisk bandits`: what sharing people's behaviour gives away, and what hiding it costs a recommender."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from reidrisk.bandits.spec import BehaviourFile, TradeoffSpec
from reidrisk.base import OptionError
from reidrisk.cli import output
from reidrisk.cli.groups import fields_of, takes
from reidrisk.cli.parameters import Json, Out, Seed, again, argument, flag, menu, numbers, option

if TYPE_CHECKING:
    from reidrisk.bandits import Tradeoff

bandits = menu("Share what a recommender learnt about people: what it gives away, and what hiding it costs.")


@bandits.command("tradeoff")
@takes(BehaviourFile, TradeoffSpec)
def tradeoff(
    context: typer.Context,
    behaviour: Path = argument(..., "Activity log with the columns user, timestamp, state."),
    strategy: list[str] | None = option(None, "Such as 'own' or 'clusters:7'; repeatable; default: the paper's."),
    amounts: str | None = option(None, "Variances of noise, or ranks, such as 0,1e-6,1e-4; default: a range."),
    quick: bool = option(False, "Leave out the attacker who knows the mechanism.", "--quick"),
    out: Out = None,
    chart: Path | None = option(None, "Write the chart here (PNG or SVG)."),
    seed: Seed = None,
    as_json: Json = False,
    **options: Any,
) -> None:
    """Measure regret and de-anonymisation of many ways to share, and mark those that are Pareto-optimal."""
    from reidrisk import bandits as api
    from reidrisk.base.streams import seed_or_fresh
    from reidrisk.present.pages.tradeoff import page

    if options["attack"] == "likelihood" and quick:
        raise OptionError("--quick leaves out the attack 'likelihood'; leave out one of the two")
    inputs = BehaviourFile.called(flag, path=str(behaviour), **fields_of(BehaviourFile, options))
    wanted = {"strategies": strategy or None, "amounts": numbers("--amounts", amounts, float)}
    wanted |= fields_of(TradeoffSpec, options)
    seed = seed_or_fresh(seed)
    spec = TradeoffSpec.called(flag, inputs=inputs, seed=seed, likelihood=not quick, **wanted)
    output.check_writable(out, chart, inputs=(behaviour, None if inputs.states is None else Path(inputs.states)))
    output.check_report(out)
    output.check_made(chart, "the chart is a picture", (".png", ".svg"))
    with output.progress_bar() as say:
        say("reading", 0.0)
        users = inputs.read()
        say("making clusters", 0.02)
        found = api.tradeoff(users, spec, progress=lambda stage, share: say(stage, 0.05 + 0.95 * share))
    command = again(context, "bandits", "tradeoff", left_out=("seed", "as_json"))
    shown = page(found, f"{command} --seed {seed}")
    files = [(chart, partial(_draw, found)), (out, partial(output.write_page, shown))]
    output.do_each(files, partial(output.show, shown, found.to_dict(), as_json))


def _draw(found: Tradeoff, path: Path) -> None:
    from reidrisk.present import save_chart
    from reidrisk.present.sections.tradeoff import tradeoff_chart

    save_chart(tradeoff_chart(found, found.attack), path)
    output.remark(f"written: {path}")
