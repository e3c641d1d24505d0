"""`reidrisk bench`: how attacks compare, on the published population or on data of one's own."""

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from reidrisk.cli import output
from reidrisk.cli.groups import group, grouped
from reidrisk.cli.parameters import Json, Out, again, flag, option

ResultOut = Annotated[Path | None, typer.Option(help="Write the result here (JSON).", readable=False)]


@group
class BenchOptions:
    """Which attacks meet on which people."""

    data: Path | None = option(None, "Manifest of data sets (TOML); default: the published population.")
    only: list[str] | None = option(None, "Data set of the manifest to use; repeatable; default: all.")
    attack: list[str] | None = option(None, "Attack to run; repeatable; default: all that need nothing but records.")
    setting: list[str] | None = option(None, "Such as halves, later, knows-4, apart; repeatable; default: all.")
    users: int = option(2_000, "Most people to draw from a data set.")
    queries: int = option(500, "Most records to identify per setting, the same for all attacks.")
    seed: int = option(0, "Seed of every random draw.")


@grouped
def bench(
    context: typer.Context, options: BenchOptions, out: Out = None, result: ResultOut = None, as_json: Json = False
) -> None:
    """Compare attacks on the same people: rates, paired differences, calibration, seconds."""
    from reidrisk import bench as api
    from reidrisk.present.pages.bench import page

    wanted = {"attacks": tuple(options.attack or ()), "settings": tuple(options.setting or ())}
    sizes = {"users": options.users, "queries": options.queries, "seed": options.seed}
    spec = api.BenchSpec.called(flag, **wanted, **sizes)
    output.check_writable(out, result, inputs=(options.data,))
    output.check_report(out)
    manifest = api.EMBEDDED if options.data is None else api.read_manifest(options.data)
    with output.progress_bar() as progress:
        found = api.run(manifest.only(options.only or ()), spec, progress=progress)
    shown = page(found, again(context, "bench", left_out=("as_json", "out", "result")))
    files = [(result, partial(output.write_json, found.to_dict())), (out, partial(output.write_page, shown))]
    output.do_each(files, partial(output.show, shown, found.to_dict(), as_json))
