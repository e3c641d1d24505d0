"""What the code released with jha counts, where it differs from the text: to tell why printed numbers differ from ours.

Written from what that code does; none of it is taken over. Two rules differ. *Loose*: users whose denoised profile is
not unique on their own site are left out beforehand, so that they are no rivals either; with ``require_unique`` of
:class:`reidrisk.attacks.LooseSets` they get no link, but stay rivals. *Strict*: a wrong link is counted only if neither
of the two users is unique on both sites.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from reidrisk import attacks
from reidrisk.attacks.sets.reconstruction import reconstruct
from reidrisk.records import Traces
from reidrisk_studies.repeated import Outcome

__all__ = ["released_loose", "released_strict", "unique_profiles"]


def unique_profiles(traces: Traces, threshold: int = 2) -> npt.NDArray[np.bool_]:
    """Tell whose denoised profile R^f nobody else has.

    Examples
    --------
    >>> unique_profiles(Traces([[1, 1, 2], [1, 3, 1], [2, 2, 1]], n_tokens=4)).tolist()
    [False, False, True]
    """
    kept = reconstruct(traces, threshold).kept
    _, number, count = np.unique(kept, axis=0, return_inverse=True, return_counts=True)
    return np.asarray(count[number.reshape(-1)] == 1)


def released_loose(one: Traces, two: Traces, threshold: int = 2) -> Outcome:
    """Run the loose attack among users with unique profiles alone; the others get no answer and are no rivals."""
    targets, queries = (np.flatnonzero(unique_profiles(traces, threshold)) for traces in (one, two))
    correct, wrong = np.zeros(len(two)), np.zeros(len(two))
    if targets.size and queries.size:
        links = attacks.LooseSets(threshold).fit(one.take(targets)).link(two.take(queries))
        found = np.where(links.target >= 0, targets[links.target], -1)
        correct[queries] = found == queries
        wrong[queries] = (found >= 0) & (found != queries)
    return Outcome(correct, wrong, 1.0 / len(one))


def released_strict(one: Traces, two: Traces, threshold: int = 2) -> Outcome:
    """Run the strict attack and leave out the wrong links that the released code does not see."""
    unique = unique_profiles(one, threshold) & unique_profiles(two, threshold)
    found = attacks.StrictSets(threshold).fit(one).link(two).target
    own = np.arange(len(two))
    seen = (found >= 0) & (found != own) & ~unique & ~unique[np.maximum(found, 0)]
    return Outcome((found == own).astype(np.float64), seen.astype(np.float64), 1.0 / len(one))
