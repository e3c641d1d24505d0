"""Simulated sites too large for memory: the published population, written shard by shard, several at a time."""

from pathlib import Path

import numpy as np

from reidrisk import io
from reidrisk.base import BLOCK, OptionError, Progress, checked_seed, each, whole
from reidrisk.populations.published import published
from reidrisk.records import Traces
from reidrisk.topics.simulate import TopicsAPI

SHARD = 1 << 20  # users of a file


def write_sites(
    folder: str | Path,
    n: int,
    epochs: int,
    seed: int = 0,
    sites: tuple[str, ...] = ("a", "b"),
    noise: float = 0.05,
    *,
    shard: int = SHARD,
    threads: int | None = None,
    progress: Progress | None = None,
) -> list[Path]:
    """Write what sites see of the published population: a folder per site, with files of 1,048,576 users each.

    People and traces are those of :func:`reidrisk.populations.published` and :meth:`TopicsAPI.expose` with the same
    seed, whatever the size of shards and the number of threads; a thread holds one shard. Each file is written under
    another name and moved into place. Users are numbered from 0.

    >>> import tempfile
    >>> [one, two] = write_sites(tempfile.mkdtemp(), n=100, epochs=2)
    >>> [path.name for path in one.iterdir()]
    ['part-00000.parquet']
    """
    n, epochs, seed = whole("n", n, unit="users"), whole("epochs", epochs, unit="epochs"), checked_seed(seed)
    if shard % BLOCK:
        raise OptionError(f"a shard holds whole blocks of {BLOCK:,} users, not {shard:,}; choose a multiple")
    if len(set(sites)) < len(sites) or not sites:
        raise OptionError(f"name every site once, not {', '.join(sites) or 'none'}")
    places = [Path(folder) / site for site in sites]
    for place in places:
        place.mkdir(parents=True, exist_ok=True)
        if any(place.iterdir()):
            raise OptionError(f"{place} is not empty; name another folder")

    def write(start: int) -> None:
        sets = published(min(shard, n - start), epochs, seed, threads=1, first=start)
        api = TopicsAPI(n_topics=sets.n_tokens, top_k=sets.k, noise=noise)
        for site, place in zip(sites, places, strict=True):
            seen = api.expose(sets, seed, site, first=start)
            users = np.arange(start, start + len(seen))
            traces = Traces(seen.tokens, seen.n_tokens, users=users, vocabulary=seen.vocabulary)
            io.write_traces(traces, place / f"part-{start // shard:05}.parquet")

    each(write, range(0, n, shard), threads, progress, "drawing-users")
    return places
