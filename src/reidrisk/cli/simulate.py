"""`reidrisk simulate`: what observers would have seen of the people in your own data."""

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from reidrisk.base import Note, OptionError, one_of
from reidrisk.cli import output
from reidrisk.cli.parameters import Json, Seed, argument, menu, option

_SUMMARY = "simulation.json"
_SHOWN = 3
_PRESENCE = {"always": Note("met-always"), "active": Note("met-when-active"), "visits": Note("met-on-visits")}

simulate = menu("Simulate what observers would have seen of the people in your own data.")


@simulate.command("topics")
def topics(
    context: typer.Context,
    histories: Path = option(..., "Visits: a table with the columns user, timestamp, host."),
    override_list: Path = option(..., "Chrome's list of hosts and their topics (TSV)."),
    taxonomy: Path = option(..., "The taxonomy of that list: Markdown, TSV or JSON."),
    observers: list[str] = option(..., "Sites that observe: registrable domains, one or more."),
    out: Path = option(..., "Folder for one Parquet file per observer, and simulation.json."),
    others: list[str] | None = argument(None, "Further observers.", metavar="[OBSERVER]..."),
    model: Path | None = option(None, "Folder of Chrome's model, for hosts that are not listed."),
    utility_buckets: Path | None = option(None, "Root topics that rank first (Markdown or TSV)."),
    user_column: str = option("user", "Column that names the user."),
    timestamp_column: str = option("timestamp", "Column that holds the time."),
    host_column: str = option("host", "Column that holds the host."),
    epoch_days: float = option(7.0, "Length of an epoch."),
    step_days: float | None = option(None, "Days from one epoch to the next; default: its length."),
    start: str | None = option(None, "When the first epoch begins; default: midnight before the first visit."),
    every_epoch: bool = option(False, "Keep only users with a visit in every epoch.", "--every-epoch"),
    top_k: int = option(5, "Topics a browser holds for an epoch."),
    noise: float = option(0.05, "Probability that a random topic is shown instead."),
    presence: str = option("always", "When an observer meets a user: 'always', when 'active', or on 'visits' there."),
    window: int | None = option(None, "Epochs that one visit shows, with --presence visits; default: 3."),
    by_the_specification: bool = option(False, "One browser per user, step by step; slower.", "--by-the-specification"),
    noise_rule: str | None = option(None, "With it: noise where the topic was 'observed' (default), or 'original'."),
    now: str | None = option(None, "Refuse visits after this time; default: the clock."),
    sort: bool = option(False, "Sort visits instead of refusing unsorted ones.", "--sort"),
    invalid_hosts: str = option("refuse", "'refuse' what is not a host, or 'count' it."),
    seed: Seed = None,
    as_json: Json = False,
) -> None:
    """Turn browsing histories into what observers would see through the Topics API, ready for an audit."""
    from reidrisk import io
    from reidrisk import topics as api
    from reidrisk.base.hosts import checked_observers
    from reidrisk.base.streams import checked_seed, fresh_seed
    from reidrisk.present import words
    from reidrisk.present.pages.simulation import page

    meets = one_of("--presence", presence, _PRESENCE)
    strange = one_of("--invalid-hosts", invalid_hosts, ("refuse", "count"))
    rule = one_of("--noise-rule", noise_rule or "observed", ("observed", "original"))
    if noise_rule is not None and not by_the_specification:
        raise OptionError("--noise-rule is a choice of browsers; add --by-the-specification or leave it out")
    if by_the_specification and window not in (None, _SHOWN):
        raise OptionError(f"by the specification a visit shows {_SHOWN} epochs; leave out --window")
    if window is not None and presence != "visits":
        raise OptionError(f"--window has no effect with --presence {presence}; add --presence visits or leave it out")
    shown = _SHOWN if window is None else window
    seed = fresh_seed() if seed is None else checked_seed(seed)
    sites = checked_observers([*observers, *(others or [])])
    tree = api.Taxonomy.read(taxonomy)
    settings = api.TopicsAPI(len(tree), top_k=top_k, noise=noise, window=shown)
    files = [out / f"{site}.parquet" for site in sites]
    output.check_folder(out)
    if out.is_dir():
        read = (histories, override_list, taxonomy, utility_buckets)
        output.check_writable(*files, out / _SUMMARY, inputs=read)
    output.lock(context, out, is_folder=True)
    with output.progress_bar() as say:
        say("reading the lists", 0.0)
        high = () if utility_buckets is None else api.read_utility_buckets(utility_buckets, tree).high
        guess = None if model is None else api.HostModel.read(model, tree)
        classifier = api.HostClassifier.from_override_list(override_list, tree, model=guess)
        say("reading the histories", 0.1)
        columns = (user_column, timestamp_column, host_column)
        visits = api.read_histories(histories, *columns, now, sort, strange)
        say("replaying them", 0.4)
        found = api.replay(visits, classifier, top_k, epoch_days, step_days, start, seed, every_epoch, high)
        say("writing what is seen", 0.9)
        if by_the_specification:
            seen = api.browse(found, classifier, sites, noise, rule, meets, seed, high)
        else:
            seen = tuple(_seen(settings, found, sites, presence, seed))
        out.mkdir(parents=True, exist_ok=True)
        for file, traces in zip(files, seen, strict=True):
            io.write_traces(traces, file)
    notes = [*found.notes, _PRESENCE[presence], *([Note("one-caller")] if by_the_specification else [])]
    said = {"notes": [note.to_dict() for note in notes], "assumptions": [words.sentence(note) for note in notes]}
    files_read = ("histories", "override_list", "taxonomy", "model", "utility_buckets")
    asked = ("top_k", "noise", "presence", "by_the_specification", "invalid_hosts", "sort")
    parameters = {name: context.params[name] and str(context.params[name]) for name in files_read}
    parameters |= {"n_topics": len(tree), **{name: context.params[name] for name in asked}}
    parameters |= {"window": shown if presence == "visits" else None}
    parameters |= {"noise_rule": rule if by_the_specification else None}
    document: dict[str, Any] = {
        "parameters": parameters,
        "seed": seed,
        "observers": [
            {"site": site, "file": str(file), "missing_share": float((~traces.observed).mean())}
            for site, file, traces in zip(sites, files, seen, strict=True)
        ],
        **found.to_dict(),
        **said,
    }
    output.write_json(document, out / _SUMMARY)
    output.show(page(document), document, as_json)
    if not as_json:
        _follow(document)


def _seen(settings: Any, found: Any, sites: tuple[str, ...], presence: str, seed: int) -> Iterator[Any]:
    """Yield what each site sees of the top sets."""
    came = found.visits_to(sites) if presence == "visits" else None
    for number, site in enumerate(sites):
        if came is not None:
            yield settings.observe(found.top_sets, seed, site, came[number])
        elif presence == "active":
            yield settings.observe(found.top_sets, seed, site, found.active, shown=1)
        else:
            yield settings.expose(found.top_sets, seed, site)


def _follow(document: dict[str, Any]) -> None:
    """Print the command that audits what the first two observers see."""
    files = [observer["file"] for observer in document["observers"]]
    if len(files) > 1:
        k, noise = document["parameters"]["top_k"], document["parameters"]["noise"]
        command = f"reidrisk audit {shlex.join(files[:2])} --system topics --top-k {k} --noise {noise}"
        output.say("", "Now try:", "", f"  {command}")
