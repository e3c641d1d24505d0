"""Chrome's own table of cohorts: how many there are, how large, how many were blocked."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from reidrisk import cohorts
from reidrisk.base.intervals import mean_interval
from reidrisk.base.progress import Progress, Steps
from reidrisk.present import drawing
from reidrisk.present.words.frequencies import percent
from reidrisk_studies.data import data_file
from reidrisk_studies.floc.weekly_histories import weekly_histories
from reidrisk_studies.results import Comparison, Row, StudyResult, line
from reidrisk_studies.study import study

__all__ = ["chrome_table"]

CHROME_TABLE = "floc_lsh_clusters/SortingLshClusters"
_FEW = 100


@study(
    "floc-chrome",
    title="FLoC: the cohorts that Chrome shipped",
    reference="floc; Chrome's table 1.0.6",
    users=100_000,
    seconds=(1.0, 20.0),
    data=("floc-table",),
)
def chrome_table(users: int, seed: int, progress: Progress) -> StudyResult:
    """Analyse the table of cohorts that Chrome shipped for its origin trial, and send synthetic people through it.

    Parameters
    ----------
    users : int
        Synthetic people, of one week.
    seed : int
        Of these people.
    progress : callable
        Called with what is done.
    """
    steps = Steps(progress, 3.0)
    steps.begin("read Chrome's table", 0.1)
    table = cohorts.SortingLSH.from_chrome(data_file(CHROME_TABLE))
    steps.begin("synthetic people", 2.9)
    week = weekly_histories(users, 1, seed)[0]
    assigned = np.asarray(table.cohort(week))
    has = assigned >= 0
    m, blocked = len(table), int(table.blocked.sum())
    space = 2.0 ** (table.log_sizes.astype(np.float64) - table.bits)
    people = np.bincount(assigned[has], minlength=m)
    rows: list[Row] = []
    shares, blocked_shares = {}, {}
    for size in sorted(set(table.log_sizes.tolist())):
        here = table.log_sizes == size
        low, high = mean_interval(table.blocked[here])
        rows.append(
            {
                "log2 of the size": size,
                "cohorts": int(here.sum()),
                "share of cohorts": float(here.mean()),
                "share of the space": float(space[here].sum()),
                "blocked": int(table.blocked[here].sum()),
                "share blocked": float(table.blocked[here].mean()),
                "low": low,
                "high": high,
                "synthetic people": int(people[here].sum()),
            }
        )
        if here.sum() >= _FEW:  # a handful of cohorts has no share to draw
            shares[size] = (float(here.mean()),) * 3
            blocked_shares[size] = (float(table.blocked[here].mean()), low, high)
    in_blocked = table.blocked[assigned[has]]
    low, high = mean_interval(in_blocked)
    alone = people[people > 0]
    return StudyResult(
        users=users,
        seed=seed,
        rows=tuple(rows),
        lines=(
            line("Share of cohorts", replace(drawing.ATTACKS[0], band=False), shares),
            line("Share blocked", drawing.ATTACKS[1], blocked_shares),
        ),
        x_title="log2 of the cohort's part of the 50-bit space",
        y_title="share",
        y_linear=True,
        comparisons=(
            Comparison("cohorts", "33,872 (in the table)", f"{m:,}", "Agrees: the table adds up to 2^50."),
            Comparison(
                "cohorts blocked at t = 0.1",
                "4 % (in the paper)",
                f"{blocked:,} of {m:,}: {percent(blocked / m)}",
                "The paper does not say on which cohorts it counted. The table of the origin trial blocks fewer.",
            ),
            Comparison(
                "part of the SimHash space that is blocked",
                "not printed",
                percent(float(space[table.blocked].sum())),
                "SimHashes of real people do not fill the space evenly, so this is no share of people.",
            ),
            Comparison(
                "sizes in the space: smallest, median, largest, as one in",
                "not printed",
                ", ".join(
                    f"2^{table.bits - int(value)}"
                    for value in (table.log_sizes.min(), np.median(table.log_sizes), table.log_sizes.max())
                ),
                "Crowded parts of the space were cut finer: each cohort should hold thousands of real users.",
            ),
            Comparison(
                "synthetic people in a blocked cohort",
                "not printed",
                f"{percent(float(in_blocked.mean()))} ({percent(low)} to {percent(high)}) of {int(has.sum()):,}",
                "Their sites are invented: they land where chance puts them. It checks the table, not FLoC.",
            ),
            Comparison(
                "cohorts with synthetic people; the smallest, median and largest of them",
                "thousands of users each (k-anonymity)",
                f"{alone.size:,}; {alone.min():,}, {int(np.median(alone)):,}, {alone.max():,}",
                f"{users:,} people for {m:,} cohorts; a table fits the population it was cut for, and no other.",
            ),
        ),
        assumptions=(
            "The table is Chrome's file of cohorts, version 1.0.6, as others saved it; how it was cut is not known.",
            "Synthetic people have lasting interests and favourite sites of our own making, one week of them.",
            "Intervals are of shares of cohorts like these, and of people like these.",
        ),
    )
