"""`reidrisk demo`: the main job on the embedded population, and two small tables to try next."""

import shlex
from pathlib import Path
from typing import Any

from reidrisk.base import sizes
from reidrisk.cli import output
from reidrisk.cli.audit import tell
from reidrisk.cli.parameters import Json, Out, flag, option
from reidrisk.cli.results import ResultOut, finish

_EXAMPLE_USERS, _EXAMPLE_EPOCHS = 1_000, 4
_BUDGET = 42.5  # reference seconds: with simulating, reading and writing, less than a minute on two cores


def demo(
    users: int = option(100_000, "People in the simulated population."),
    epochs: int = option(8, "Weeks of observation."),
    sample: int | None = option(None, "Records to score, drawn at random; default: as many as there is time for."),
    seed: int = option(0, "Seed of every random draw."),
    out: Out = None,
    result: ResultOut = None,
    write_example: Path | None = option(None, "Only write two small tables into this folder, and what to try next."),
    as_json: Json = False,
) -> None:
    """Audit two sites over the published population; no data needed."""
    if write_example is not None:
        _write_example(write_example, seed)
        return
    from reidrisk.audit import AuditSpec, run
    from reidrisk.present.words.audit import terms_of_spec

    sizes.CELLS.check(users * epochs, "the simulated population", "take fewer --users or --epochs")
    output.check_writable(out, result)
    output.check_report(out)
    inputs = {"kind": "published", "users": users, "epochs": epochs}
    wanted: dict[str, Any] = {"inputs": inputs, "system": "topics", "seed": seed, "budget": _BUDGET}
    if sample is not None:
        wanted["sample"] = min(sample, users)
    spec = AuditSpec.called(flag, **wanted)
    output.remark(
        f"Two sites see one topic per week of {users:,} simulated people; can they tell who is who? "
        f"This takes about {_estimate(users, epochs, sample)} on two cores, a little longer the first time."
    )
    with output.progress_bar(terms_of_spec(spec.model_dump(mode="json"))) as progress:
        found = run(spec, progress, heard=tell)
    finish(found, out, result, as_json)


def _estimate(users: int, epochs: int, sample: int | None) -> str:
    """Estimate the time from the work: people simulated, pairs compared, pairs weighed for the optimal attacker."""
    pairs = 1e-9 * users * 2 * epochs  # 1 + 2 + 4 + … epochs
    compared = pairs * (2_000 + 4.2 * min(users if sample is None else sample, users))
    seconds = 6 + 4e-6 * users * epochs + (min(compared, 0.8 * _BUDGET) if sample is None else compared)
    return f"{seconds:.0f} seconds" if seconds < 100 else f"{seconds / 60:.0f} minutes"


def _write_example(folder: Path, seed: int) -> None:
    from reidrisk import io, populations, topics

    output.check_folder(folder)
    folder.mkdir(parents=True, exist_ok=True)
    sets = populations.published(_EXAMPLE_USERS, _EXAMPLE_EPOCHS, seed=seed)
    api = topics.TopicsAPI(n_topics=sets.n_tokens, top_k=sets.k)
    names = [folder / "site1.csv", folder / "site2.csv"]
    for path, site in zip(names, ("site 1", "site 2"), strict=True):
        seen = api.expose(sets, seed=seed, site=site)
        people = [f"person-{i:04d}" for i in range(len(seen))]
        io.write_traces(type(seen)(seen.tokens, seen.n_tokens, users=people), path)
    files = (*names, folder / "report.html", folder / "result.json")
    one, two, page, result = (shlex.quote(str(path)) for path in files)
    output.say(
        f"Wrote {names[0]} and {names[1]}: {_EXAMPLE_USERS:,} people, {_EXAMPLE_EPOCHS} weeks each. Now try:",
        "",
        f"  reidrisk audit {one} {two} --system topics --n-tokens {sets.n_tokens} --seed 1 \\",
        f"    --out {page} --result {result}",
        f"  reidrisk gate {result} --max-risk 0.3",
    )
