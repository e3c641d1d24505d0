"""What data the studies use: which files, who publishes them, under which licence, and whether they are here.

None of it is shipped. A study whose data is missing leaves that part out or lets made-up people stand in, and says so
on its picture; one that is about nothing but its data is not run.
"""

from __future__ import annotations

import gzip
import hashlib
from dataclasses import dataclass
from pathlib import Path

from reidrisk_studies.data import data_folder

__all__ = ["SOURCES", "DataSource", "missing_data", "state", "table"]


@dataclass(frozen=True)
class DataSource:
    """One data set.

    Attributes
    ----------
    name : str
        What studies call it.
    what : str
        What it holds, in a few words.
    files : tuple of (path, checksum)
        Paths within the data folder; SHA-256 of each file, of a ``.gz`` file's content. A checksum is empty where the
        file was never at hand. No files: the studies do not read it, and always use stand-ins.
    origin : str
        Where its authors publish it.
    licence : str
        As they state it.
    without : str
        What a study does without it.
    """

    name: str
    what: str
    files: tuple[tuple[str, str], ...]
    origin: str
    licence: str
    without: str


_LEFT_OUT = "these people are left out"
_MADE_UP = "made-up people stand in"

SOURCES = {
    source.name: source
    for source in (
        DataSource(
            "jha-rates",
            "mean weekly visits of 268 real users to 349 topics",
            (
                (
                    "topics_rates_jha/lambda-user-topic.csv.gz",
                    "91696d70d5e1fd8fa8fdd08ee6d5c6324ab06e9c1762159cbb09bd563f21ca46",
                ),
            ),
            "GitHub: nikhiljha95/topics-api-simulator",
            "GPL-3.0",
            "users of the published population stand in",
        ),
        DataSource(
            "lastfm",
            "artists that 1,892 real listeners heard",
            (
                (
                    "lastfm_hetrec2k/user_artists.dat.gz",
                    "650cd69d5a68db24b439042557aa539aec47e473273e12cdfdca2cd944b3773a",
                ),
            ),
            "HetRec 2011, hetrec2011-lastfm-2k (GroupLens)",
            "research use",
            _LEFT_OUT,
        ),
        DataSource(
            "msweb",
            "areas of one site that 32,711 real visitors saw",
            (
                (
                    "msweb/anonymous-msweb.data.gz",
                    "60fd5f438a55d2105ca0ff4142e748e2146486bde84c96d55dc98b37a8139cbd",
                ),
            ),
            "UCI KDD Archive, kdd.ics.uci.edu/databases/msweb; also in GitHub: mhahsler/recommenderlab",
            "none stated on its page",
            _LEFT_OUT,
        ),
        DataSource(
            "msnbc",
            "page categories of 989,818 real visitors on one day",
            (
                (
                    "msnbc_web/msnbc990928.zip",
                    "af10d7be592f66d008026ce2cfd8b7a0259ff1fee36b2d8d9773379c9775c451",
                ),
            ),
            "archive.ics.uci.edu/ml/datasets/MSNBC.com+Anonymous+Web+Data; also in GitHub: numenta/nupic",
            "none stated on its page ('available thanks to msnbc.com')",
            _LEFT_OUT,
        ),
        DataSource(
            "webtrackr",
            "24 weeks of browsing of 5 real panelists",
            (
                (
                    "webtrackr_panel/testdt_tracking.rda",
                    "80139149502a2d280613028d83760169f879621ad913dea12d71ef2c63c14e5c",
                ),
            ),
            "GitHub: gesistsa/webtrackR",
            "MIT",
            _LEFT_OUT,
        ),
        DataSource(
            "chrome-topics",
            "Chrome's list of 45,270 hosts and their topics, and the second taxonomy",
            (
                (
                    "topics_chrome_model/chrome5/override_list.tsv",
                    "2995b6a97c58a9adb3099640ae5c9854644e18659b27981ea9f8e81c64e5656a",
                ),
                (
                    "topics_taxonomy/taxonomy_v2.md",
                    "fd6faedcb6463498d6ed4e010bb3037fa42f3636dc81bd54bfcc596e5c5f956e",
                ),
            ),
            "GitHub: yohhaan/topics_classifier (the list), patcg-individual-drafts/topics (the taxonomy)",
            "GPL-3.0, the list is Google's; W3C",
            "the panelists are left out",
        ),
        DataSource(
            "floc-table",
            "Chrome's table of 33,872 cohorts, FLoC 1.0.6",
            (
                (
                    "floc_lsh_clusters/SortingLshClusters",
                    "c8232b6128dc4759db73245bd110589ba2d910db20fb6367afb6e6d9e4c1f54b",
                ),
            ),
            "GitHub: shigeki/floc_simulator",
            "MIT, the table is Chrome's",
            "the study cannot be run",
        ),
        DataSource(
            "topics-release",
            "the statistics that the authors released",
            (("topics_release/q_within.json", ""), ("topics_release/q_across.json", "")),
            "the authors of dick, beside the paper; never at hand here",
            "not known",
            "its part is left out: all numbers come from the published population",
        ),
        DataSource(
            "fitbit",
            "minute by minute activity of 33 real people",
            (
                (
                    "fitbit2016/minuteIntensitiesWide_merged.csv.gz",
                    "0e1e637088c523ce98a05807145a7bb5ca9cd8591c4466faf1c701cf08a44d58",
                ),
                (
                    "fitbit2016/hourlyIntensities_merged.csv.gz",
                    "e54f34fc988eab6e71206455e76d8af73f4525a3d174f53a483236b88dfe686b",
                ),
            ),
            "zenodo.org/record/53894",
            "on that page",
            _MADE_UP,
        ),
        DataSource(
            "casas",
            "activities in smart homes",
            (),
            "CASAS, Washington State University; never at hand here",
            "as its authors state",
            _MADE_UP,
        ),
        DataSource(
            "endomondo",
            "workouts of sportspeople",
            (),
            "Endomondo, University of California San Diego; never at hand here",
            "as its authors state",
            _MADE_UP,
        ),
    )
}
"""All data sets by name."""


def state(path: str, checksum: str) -> str:
    """Return ``"there"``, ``"missing"`` or, where the checksum is not the known one, ``"other"``.

    Examples
    --------
    >>> state("nowhere/nothing.csv", "")
    'missing'
    """
    file = data_folder() / path
    if not file.is_file():
        return "missing"
    return "other" if checksum and _checksum(file) != checksum else "there"


def missing_data(needs: tuple[str, ...]) -> tuple[str, ...]:
    """Return a line for each data set that is not here as published: which file, and what is done without it.

    Examples
    --------
    >>> missing_data(()), missing_data(("casas",))
    ((), ('no data of casas is read: made-up people stand in',))
    """
    lines = []
    for source in (SOURCES[name] for name in needs):
        if not source.files:
            lines.append(f"no data of {source.name} is read: {source.without}")
        found = {path: state(path, checksum) for path, checksum in source.files}
        gone = [path for path, how in found.items() if how == "missing"]
        if gone:
            lines.append(f"{' and '.join(gone)} {'are' if gone[1:] else 'is'} missing: {source.without}")
        lines += [f"{path} is another file than ours: its checksum differs" for path in found if found[path] == "other"]
    return tuple(lines)


def table() -> str:
    """Return the reference table of all files, in Markdown; the documentation has it word for word.

    Examples
    --------
    >>> table().splitlines()[0]
    '| data | file | holds | published by | licence | SHA-256 | without it |'
    """
    lines = ["| data | file | holds | published by | licence | SHA-256 | without it |", "| --- " * 7 + "|"]
    for source in SOURCES.values():
        for path, checksum in source.files or (("", ""),):
            cells = (
                f"`{source.name}`",
                f"`{path}`" if path else "none is read",
                source.what,
                source.origin,
                source.licence,
                f"`{checksum}`" if checksum else "not known",
                source.without,
            )
            lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _checksum(file: Path) -> str:
    """Return the SHA-256 of a file, of what is packed where it is packed by gzip: packing is no part of the data."""
    try:
        with gzip.open(file) if file.name.endswith(".gz") else file.open("rb") as content:
            return hashlib.file_digest(content, "sha256").hexdigest()
    except (OSError, EOFError):
        return ""
