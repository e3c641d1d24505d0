"""Browsing that the studies of floc group into cohorts: public data where it is there, and synthetic people always.

Which pages count as sensitive is a choice, and written down with each of them: no public data set comes with the
paper's categories.
"""

from __future__ import annotations

import gzip
import io as text_io
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from reidrisk import cohorts
from reidrisk.base.errors import FormatError, MissingExtraError
from reidrisk.base.extras import require
from reidrisk.cohorts.floc.simhash import DomainLists
from reidrisk_studies.carey.items import read_msweb
from reidrisk_studies.data import MissingDataError, data_file
from reidrisk_studies.floc.weekly_histories import weekly_histories

__all__ = ["Browsing", "all_browsing", "read_msnbc", "read_panel", "synthetic"]

_MSWEB = "msweb/anonymous-msweb.data.gz"
_MSNBC = "msnbc_web/msnbc990928.zip"
_PANEL = "webtrackr_panel/testdt_tracking.rda"
_LISTED = "topics_chrome_model/chrome5/override_list.tsv"
_TAXONOMY = "topics_taxonomy/taxonomy_v2.md"

MSWEB_SENSITIVE = {
    "looking for work": ("/jobs", "/college"),
    "money": ("/moneyzone", "/msmoneysupport", "/finserv", "/msft", "/ofc"),
    "children": ("/kids", "/kidssupport", "/k-12"),
    "education": ("/education", "/hed"),
    "licences and piracy": ("/piracy", "/licenses"),
    "charity": ("/giving",),
}
"""Areas of microsoft.com that say something about a person; besides, every country's area, as origin."""

MSWEB_COUNTRIES = (
    "norge spain netherlands korea finland poland china rus brasil taiwan mexico canada southafrica middleeast nz "
    "colombia belgium germany switzerland danmark israel cze sverige argentina australia france venezuela northafrica "
    "uk slovenija slovakia portugal caribbean turkey hk italy india hun chile thailand uruguay peru benelux centroam "
    "ireland"
)

MSNBC_SENSITIVE = ("health", "living", "opinion", "bbs", "travel", "business")
PANEL_SENSITIVE = (
    "/Beauty & Fitness", "/Finance", "/Jobs & Education", "/Law & Government", "/News", "/Online Communities",
    "/People & Society",
)  # fmt: skip
LEAST_SIZE = 10
"""Users that a cohort has at least, however few people are taken."""

SYNTHETIC_SENSITIVE = 40
"""Interests of the synthetic people that are called sensitive, of 200."""


@dataclass(frozen=True, eq=False)
class Browsing:
    """What people visited, and which of it is sensitive.

    ``starts`` and ``codes`` hold the items of all people in turn, ``names`` what they are called, ``sensitive`` the
    items of each category; cohorts take people with ``min_items`` items or more, ``min_size`` of them at least. In
    the ``note``, ``{size}`` stands for that number.
    """

    name: str
    starts: npt.NDArray[np.int64]
    codes: npt.NDArray[np.int32]
    names: Any
    sensitive: Mapping[str, Sequence[int]]
    min_items: int
    min_size: int
    note: str

    def __len__(self) -> int:
        return self.starts.size - 1

    def first(self, n: int) -> Browsing:
        """Return the first ``n`` people alone; cohorts shrink with them, down to 10."""
        if n >= len(self):
            return self
        starts = self.starts[: n + 1]
        size = min(self.min_size, max(LEAST_SIZE, round(self.min_size * n / len(self))))
        note = f"{self.note} Only the first {n:,} of them are taken."
        kept = {"starts": starts, "codes": self.codes[: starts[-1]], "min_size": size, "note": note}
        return Browsing(**{**self.__dict__, **kept})

    @property
    def assumption(self) -> str:
        """The note, with the size of cohorts that was used."""
        return self.note.replace("{size}", f"{self.min_size:,}")

    def visited(self) -> Any:
        """Return who visited which category, as a sparse 0/1 table."""
        from scipy import sparse

        column: dict[int, list[int]] = {}
        for number, items in enumerate(self.sensitive.values()):
            for item in items:
                column.setdefault(item, []).append(number)
        user = np.repeat(np.arange(len(self)), np.diff(self.starts))
        rows, columns = [], []
        table = np.full(len(self.names), -1)
        for depth in range(max(map(len, column.values()), default=0)):
            table[:] = -1
            for item, numbers in column.items():
                if depth < len(numbers):
                    table[item] = numbers[depth]
            hit = table[self.codes] >= 0
            rows.append(user[hit])
            columns.append(table[self.codes[hit]])
        cells = (np.concatenate(rows), np.concatenate(columns))
        shape = (len(self), len(self.sensitive))
        return sparse.coo_array((np.ones(cells[0].size, dtype=np.int32), cells), shape=shape).tocsr()

    def assignment(self, harmless: bool = False) -> npt.NDArray[np.int64]:
        """Group people by SimHash and SortingLSH; ``harmless`` leaves sensitive items out of the SimHash."""
        starts, codes, enough = self._listed(harmless)
        hashes = np.asarray(cohorts.simhash(DomainLists(starts, codes, self.names, False)))
        table = cohorts.SortingLSH.fit(hashes[enough], self.min_size)
        return np.where(enough, table.assign(hashes), -1)

    def too_few(self) -> str:
        """Say why no cohort can be made, or nothing."""
        n = min(int(self._listed(harmless)[2].sum()) for harmless in (False, True))
        if n >= self.min_size:
            return ""
        return (
            f"{self.name}: {n:,} of {len(self):,} people have enough items, too few for a cohort of {self.min_size:,}"
        )

    def _listed(self, harmless: bool) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], npt.NDArray[np.bool_]]:
        """Return where each person's items start, the items, and who has enough different ones."""
        starts, codes = self.starts, self.codes
        if harmless:
            listed = np.zeros(len(self.names), dtype=bool)
            listed[[item for items in self.sensitive.values() for item in items]] = True
            kept = ~listed[codes]
            starts = np.concatenate([[0], np.cumsum(kept)])[starts]
            codes = codes[kept]
        user = np.repeat(np.arange(len(self)), np.diff(starts))
        different = np.unique(user.astype(np.int64) * len(self.names) + codes) // len(self.names)
        return starts, codes, np.bincount(different, minlength=len(self)) >= self.min_items


def all_browsing(n: int, seed: int) -> tuple[list[Browsing], list[str]]:
    """Return the browsing there is, at most ``n`` people of each, and what is missing."""
    found, missing = [synthetic(min(n, 100_000), seed)], []
    for read in (_msweb, _msnbc, _panel):
        try:
            people = read().first(n)
        except (MissingDataError, MissingExtraError) as error:
            missing.append(f"Left out: {error}")
            continue
        reason = people.too_few()
        if reason:
            missing.append(f"Left out: {reason}.")
        else:
            found.append(people)
    return found, missing


def synthetic(n: int, seed: int) -> Browsing:
    """Draw people with habits, a week of them; 40 of 200 interests are called sensitive.

    Examples
    --------
    >>> people = synthetic(300, seed=0)
    >>> len(people), len(people.sensitive), people.visited().shape
    (300, 40, (300, 40))
    """
    week = weekly_histories(n, 1, seed)[0]
    first, each = 500, 100  # sites that everybody visits come first, then 100 for each interest
    chosen = {f"interest {i}": range(first + i * each, first + (i + 1) * each) for i in range(SYNTHETIC_SENSITIVE)}
    size = max(20, min(200, n // 50))
    note = (
        f"Synthetic: {n:,} people with lasting interests and favourite sites, one week; {SYNTHETIC_SENSITIVE} of 200 "
        f"interests are called sensitive. Cohorts of at least {{size}}, 7 sites or more, as in Chrome."
    )
    return Browsing("synthetic", week.starts, week.codes, week.distinct, chosen, 7, size, note)


def _msweb() -> Browsing:
    import pyarrow as pa

    path = data_file(_MSWEB)
    sets = read_msweb(path)
    roots: list[str] = []
    with gzip.open(path, "rt", encoding="latin-1") as lines:
        roots = [text.rstrip().rpartition(",")[2].strip('"') for text in lines if text.startswith("A,")]
    place = {root: number for number, root in enumerate(roots)}
    chosen = {name: [place[root] for root in areas] for name, areas in MSWEB_SENSITIVE.items()}
    chosen |= {
        f"origin: {country}": [place[f"/{country}"]] for country in MSWEB_COUNTRIES.split() if f"/{country}" in place
    }
    note = (
        f"msweb: {len(sets):,} visitors of microsoft.com in one week of 1998, by area of the site. Called sensitive: "
        f"{', '.join(MSWEB_SENSITIVE)}, and the areas of {len(chosen) - len(MSWEB_SENSITIVE)} countries as origin. "
        "Cohorts of at least {size}, 3 areas or more: few visitors saw 7."
    )
    return Browsing("msweb", sets.offsets, sets.items, pa.array(roots, pa.large_string()), chosen, 3, 100, note)


def _msnbc() -> Browsing:
    return read_msnbc(data_file(_MSNBC))


def read_msnbc(path: Path) -> Browsing:
    """Read ordered page categories of visitors (UCI, MSNBC.com anonymous web data), zipped; each counts once."""
    import pyarrow as pa

    try:
        with zipfile.ZipFile(path) as archive:
            name = next(name for name in archive.namelist() if name.endswith(".seq") and "/" not in name)
            text = archive.read(name).decode("ascii")
        head, _, body = text.partition("% Sequences:")
        names = next(line for line in head.splitlines() if line and not line.startswith("%")).split()
        lines = [line for line in body.splitlines() if line.strip()]
        counts = np.array([len(line.split()) for line in lines])
        if not lines:
            raise ValueError("there is not a single visitor")
        codes = np.loadtxt(text_io.StringIO(" ".join(lines)), dtype=np.int32, ndmin=1) - 1
        if codes.size != counts.sum() or codes.min() < 0 or codes.max() >= len(names):
            raise ValueError("pages that are in no category")
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, StopIteration, ValueError) as error:
        raise FormatError(f"{path}: this is not zipped page categories of visitors: {error}") from error
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    chosen = {name: [names.index(name)] for name in MSNBC_SENSITIVE if name in names}
    note = (
        f"msnbc: {len(lines):,} visitors of msnbc.com on one day of 1999, by page category. Called sensitive: "
        f"{', '.join(chosen)}. Cohorts of at least {{size}}, 3 categories or more."
    )
    return Browsing("msnbc", starts, codes, pa.array(names, pa.large_string()), chosen, 3, 2_000, note)


def _panel() -> Browsing:
    return read_panel(data_file(_PANEL), data_file(_LISTED), data_file(_TAXONOMY))


def read_panel(path: Path, listed: Path, taxonomy: Path) -> Browsing:
    """Read the panel of webtrackR: a week of a panelist is one user here, since there are only five people."""
    import polars as pl
    import pyarrow as pa

    from reidrisk.topics import HostClassifier, Taxonomy

    reader = require("pyreadr", "all", "reading an R file", folder="./studies")
    try:
        table = next(iter(reader.read_r(path, output_format="polars").values()))
    except (reader.PyreadrError, reader.LibrdataError, StopIteration, OSError, ValueError) as error:
        raise FormatError(f"{path}: this is not a panel of webtrackR, saved by R: {error}") from error
    kinds = {"panelist_id": pl.String, "url": pl.String, "timestamp": pl.Datetime}
    if any(table.schema.get(name) != kind for name, kind in kinds.items()):
        raise FormatError(
            f"{path}: a panel has panelist_id and url as text and timestamp as a time, not {table.schema}"
        )
    host = pl.col("url").str.extract(r"^[a-z]+://([^/:?#]*)").str.to_lowercase().str.strip_prefix("www.")
    rows = table.select(
        host.alias("host"),
        pl.format("{} {}", "panelist_id", pl.col("timestamp").dt.truncate("1w")).alias("week"),
    ).drop_nulls()
    rows = rows.filter(pl.col("host") != "").unique(maintain_order=True).sort("week", maintain_order=True)
    hosts = rows["host"].unique(maintain_order=True)
    code = {name: number for number, name in enumerate(hosts.to_list())}
    tree = Taxonomy.read(taxonomy)
    known = HostClassifier.from_override_list(listed, tree).classify(hosts.to_list(), invalid="count")
    chosen: dict[str, list[int]] = {}
    for number, ids in enumerate(known):
        for topic in ids or ():
            if tree.label(topic).startswith(PANEL_SENSITIVE):
                chosen.setdefault(tree.label(topic), []).append(number)
    counts = rows.group_by("week", maintain_order=True).len()["len"].to_numpy()
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    codes = np.array([code[name] for name in rows["host"].to_list()], dtype=np.int32)
    note = (
        f"panel: {counts.size} weeks of five panelists, each week as a user of its own. Called sensitive: Chrome's "
        f"topics under {', '.join(PANEL_SENSITIVE)}. Cohorts of at least {{size}}, 7 hosts or more."
    )
    names = pa.array(hosts.to_list(), pa.large_string())
    return Browsing("panel", starts, codes, names, dict(sorted(chosen.items())), 7, 10, note)
