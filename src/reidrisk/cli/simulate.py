"""`reidrisk simulate`: what observers would have seen of the people in your own data."""

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from reidrisk.base import Note, OptionError, one_of
from reidrisk.cli import output
from reidrisk.cli.groups import group, grouped, plain
from reidrisk.cli.parameters import Json, Seed, argument, menu, option

_SUMMARY = "simulation.json"
_SHOWN = 3
_READ = ("histories", "override_list", "taxonomy", "model", "utility_buckets")
_ASKED = ("top_k", "noise", "presence", "by_the_specification", "invalid_hosts", "sort")
_PRESENCE = {"always": Note("met-always"), "active": Note("met-when-active"), "visits": Note("met-on-visits")}

simulate = menu("Simulate what observers would have seen of the people in your own data.")


@group
class SourceOptions:
    """Whose visits are replayed, by which lists, for which observers, and where to."""

    histories: Path = option(..., "Visits: a table with the columns user, timestamp, host.")
    override_list: Path = option(..., "Chrome's list of hosts and their topics (TSV).")
    taxonomy: Path = option(..., "The taxonomy of that list: Markdown, TSV or JSON.")
    observers: list[str] = option(..., "Sites that observe: registrable domains, one or more.")
    out: Path = option(..., "Folder for one Parquet file per observer, and simulation.json.")
    others: list[str] | None = argument(None, "Further observers.", metavar="[OBSERVER]...")
    model: Path | None = option(None, "Folder of Chrome's model, for hosts that are not listed.")
    utility_buckets: Path | None = option(None, "Root topics that rank first (Markdown or TSV).")


@group
class EpochOptions:
    """Which columns hold the visits, and how they are cut into epochs."""

    user_column: str = option("user", "Column that names the user.")
    timestamp_column: str = option("timestamp", "Column that holds the time.")
    host_column: str = option("host", "Column that holds the host.")
    epoch_days: float = option(7.0, "Length of an epoch.")
    step_days: float | None = option(None, "Days from one epoch to the next; default: its length.")
    start: str | None = option(None, "When the first epoch begins; default: midnight before the first visit.")
    every_epoch: bool = option(False, "Keep only users with a visit in every epoch.", "--every-epoch")


@group
class BrowserOptions:
    """What a browser holds, and what it shows to whom."""

    top_k: int = option(5, "Topics a browser holds for an epoch.")
    noise: float = option(0.05, "Probability that a random topic is shown instead.")
    presence: str = option("always", "When an observer meets a user: 'always', when 'active', or on 'visits' there.")
    window: int | None = option(None, "Epochs that one visit shows, with --presence visits; default: 3.")
    by_the_specification: bool = option(False, "One browser per user, step by step; slower.", "--by-the-specification")
    noise_rule: str | None = option(None, "With it: noise where the topic was 'observed' (default), or 'original'.")

    def check(self) -> None:
        """Refuse options that do not go together."""
        if self.noise_rule is not None and not self.by_the_specification:
            raise OptionError("--noise-rule is a choice of browsers; add --by-the-specification or leave it out")
        if self.by_the_specification and self.window not in (None, _SHOWN):
            raise OptionError(f"by the specification a visit shows {_SHOWN} epochs; leave out --window")
        if self.window is not None and self.presence != "visits":
            without = f"--window has no effect with --presence {self.presence}"
            raise OptionError(f"{without}; add --presence visits or leave it out")

    @property
    def shown(self) -> int:
        """Epochs that one visit shows."""
        return _SHOWN if self.window is None else self.window


@group
class VisitOptions:
    """Which visits are refused."""

    now: str | None = option(None, "Refuse visits after this time; default: the clock.")
    sort: bool = option(False, "Sort visits instead of refusing unsorted ones.", "--sort")
    invalid_hosts: str = option("refuse", "'refuse' what is not a host, or 'count' it.")


@simulate.command("topics")
@grouped
def topics(
    context: typer.Context,
    sources: SourceOptions,
    epochs: EpochOptions,
    browser: BrowserOptions,
    visits: VisitOptions,
    seed: Seed = None,
    as_json: Json = False,
) -> None:
    """Turn browsing histories into what observers would see through the Topics API, ready for an audit."""
    from reidrisk import io
    from reidrisk import topics as api
    from reidrisk.base.hosts import checked_observers
    from reidrisk.base.streams import seed_or_fresh
    from reidrisk.present import words
    from reidrisk.present.pages.simulation import page

    meets = one_of("--presence", browser.presence, _PRESENCE)
    strange = one_of("--invalid-hosts", visits.invalid_hosts, ("refuse", "count"))
    rule = one_of("--noise-rule", browser.noise_rule or "observed", ("observed", "original"))
    browser.check()
    seed = seed_or_fresh(seed)
    sites = checked_observers([*sources.observers, *(sources.others or [])])
    tree = api.Taxonomy.read(sources.taxonomy)
    settings = api.TopicsAPI(len(tree), top_k=browser.top_k, noise=browser.noise, window=browser.shown)
    out = sources.out
    files = [out / f"{site}.parquet" for site in sites]
    output.check_folder(out)
    if out.is_dir():
        read = (sources.histories, sources.override_list, sources.taxonomy, sources.utility_buckets)
        output.check_writable(*files, out / _SUMMARY, inputs=read)
    output.lock(context, out, is_folder=True)
    with output.progress_bar() as say:
        say("reading the lists", 0.0)
        buckets = sources.utility_buckets
        high = () if buckets is None else api.read_utility_buckets(buckets, tree).high
        guess = None if sources.model is None else api.HostModel.read(sources.model, tree)
        classifier = api.HostClassifier.from_override_list(sources.override_list, tree, model=guess)
        say("reading the histories", 0.1)
        columns = (epochs.user_column, epochs.timestamp_column, epochs.host_column)
        came = api.read_histories(sources.histories, *columns, visits.now, visits.sort, strange)
        say("replaying them", 0.4)
        cut = (epochs.epoch_days, epochs.step_days, epochs.start)
        found = api.replay(came, classifier, browser.top_k, *cut, seed, epochs.every_epoch, high)
        say("writing what is seen", 0.9)
        if browser.by_the_specification:
            seen = api.browse(found, classifier, sites, browser.noise, rule, meets, seed, high)
        else:
            seen = tuple(_seen(settings, found, sites, browser.presence, seed))
        out.mkdir(parents=True, exist_ok=True)
        for file, traces in zip(files, seen, strict=True):
            io.write_traces(traces, file)
    notes = [*found.notes, _PRESENCE[browser.presence]]
    notes += [Note("one-caller")] if browser.by_the_specification else []
    said = {"notes": [note.to_dict() for note in notes], "assumptions": [words.sentence(note) for note in notes]}
    given = plain(sources, browser, visits)
    parameters = (
        {name: given[name] for name in _READ} | {"n_topics": len(tree)} | {name: given[name] for name in _ASKED}
    )
    parameters |= {"window": browser.shown if browser.presence == "visits" else None}
    parameters |= {"noise_rule": rule if browser.by_the_specification else None}
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
        output.follow(f"reidrisk audit {shlex.join(files[:2])} --system topics --top-k {k} --noise {noise}")
