"""What is odd about a case before any attack is read: pairs that share nothing, telling gaps or order, zeros."""

from typing import Any

import numpy as np

from reidrisk.attacks import Presence
from reidrisk.base import Floats, Ints, Note, mean_interval, stream
from reidrisk.measure.risk import credits
from reidrisk.records import Attributes, Case, Traces, Vectors

_PAIRS = 2_000  # true pairs that are looked at, and strangers for each
_STRANGERS = 3
_FEWEST = 20  # pairs from which something can be said
_TARGETS = 20_000  # known records among which gaps are compared
_MATTERS = 0.01  # people found by gaps alone, from which on that is worth a warning
_LEVEL = 0.999
_CLEAR = 3.3  # standard errors: the same level, two-sided
_APART = 0.05  # level: share of labels in both tables below which items say next to nothing
_ALIKE = 0.1  # rank correlation of rows from which their order is a leak worth naming


def warnings(case: Case, seed: int = 0) -> tuple[Note, ...]:
    """Return what a reader of any rate of this case must know first; but for the last, only where the truth is known.

    * ``pairs-share-nothing``: no true pair has an item in common; ``pairs-share-less``: they have less in common than
      strangers do. Then overlap says nothing, and attacks that count it look weak.
    * ``labels-disjoint``: hardly a label is in both tables, as where they are written differently.
    * ``presence-identifies``: in which epochs somebody was there finds more people than chance, and more than 1 in 100,
      whatever they showed.
    * ``order-tells``: rows of true pairs come in a like order, by Spearman's rank correlation of their row numbers.

    * ``no-direction``: some vectors hold zeros only, so that attacks by direction do not run.

    The second, third and fourth are significant at the level 99.9 %.

    >>> from reidrisk.records import Bags, Truth
    >>> a, b = Bags(np.eye(40, 80, dtype=int)), Bags(np.eye(40, 80, k=40, dtype=int))
    >>> [note.code for note in warnings(Case(a, b, Truth(np.arange(40), "given")))]
    ['pairs-share-nothing', 'order-tells']
    """
    zeros = _zeros(case)
    if case.truth is None:
        return zeros
    paired = np.flatnonzero(case.truth.target >= 0)
    if len(paired) < _FEWEST:
        return zeros
    drawn = stream(seed, "warnings: pairs").permutation(paired)[:_PAIRS]
    found = []
    if not isinstance(case.targets, Vectors):  # which have everything in common, and no gaps
        found = [_disjoint(case), _shared(case, drawn, seed), _presence(case, drawn, seed)]
    # Equal ids, equal rows and parts of one table come in one order by themselves; of files, an attack measures it.
    if case.truth.origin == "given" and case.raw is None:
        found.append(_order(paired, case.truth.target[paired], case))
    return (*(note for note in found if note is not None), *zeros)


def _zeros(case: Case) -> tuple[Note, ...]:
    """Count the vectors without a direction; of several vectors of a person any may be one."""
    if not isinstance(case.targets, Vectors):
        return ()
    tables = [each.values if each.several is None else each.several.values for each in (case.targets, case.queries)]
    n = sum(int((~values.any(axis=1)).sum()) for values in tables)
    return (Note("no-direction", n=n, of=sum(map(len, tables))),) if n else ()


def _shared(case: Case, rows: Ints, seed: int) -> Note | None:
    """Compare what true pairs have in common with what strangers have."""
    known, asked = (_holds(table) for table in (case.targets, case.queries))
    own = case.truth.target[rows] if case.truth is not None else rows
    pairs = _common(known, asked, own, rows)
    rng = stream(seed, "warnings: strangers")
    # Somebody else: any known record but one's own.
    others = (own + rng.integers(1, max(len(case.targets), 2), (_STRANGERS, len(rows)))) % len(case.targets)
    strangers = np.mean([_common(known, asked, other, rows) for other in others], axis=0)
    values = {"n": len(rows), "pairs": float(pairs.mean()), "strangers": float(strangers.mean())}
    if not pairs.any():
        return Note("pairs-share-nothing", **values)
    gap = pairs - strangers
    error = float(gap.std(ddof=1)) / np.sqrt(len(gap))
    return Note("pairs-share-less", **values) if gap.mean() + _CLEAR * error < 0.0 else None


def _disjoint(case: Case) -> Note | None:
    """Look how much of what the queries hold has a label that the targets know."""
    compared = isinstance(case.targets, Attributes) or case.targets.vocabulary is None  # numbers may be near each other
    if compared or case.truth is None or case.truth.origin == "cut":
        return None
    known, asked = (_holds(table) for table in (case.targets, case.queries))
    there = np.bincount(known.indices, minlength=known.shape[1]) > 0
    share = float(there[asked.indices].mean()) if asked.nnz else 0.0
    return Note("labels-disjoint", share=share) if share < _APART else None


def _holds(table: Any) -> Any:
    """Return who holds what, as a sparse matrix of ones."""
    from scipy import sparse

    counts = (table.bags() if isinstance(table, Traces) else table).counts
    return sparse.csr_array((np.ones(counts.nnz), counts.indices, counts.indptr), shape=counts.shape)


def _common(known: Any, asked: Any, targets: Ints, queries: Ints) -> Floats:
    """Return the cosine of each pair of records, by which items they hold: long records are no closer to anybody."""
    both = np.asarray(known[targets].multiply(asked[queries]).sum(axis=1)).ravel()
    sizes = [np.diff(side.indptr).astype(np.float64)[rows] for side, rows in ((known, targets), (asked, queries))]
    return np.asarray(both / np.sqrt(np.maximum(sizes[0] * sizes[1], 1)), dtype=np.float64)


def _presence(case: Case, rows: Ints, seed: int) -> Note | None:
    """Link by when people were there alone, among some of the targets."""
    targets, queries = case.targets, case.queries
    comparable = isinstance(targets, Traces) and targets.n_epochs == queries.n_epochs
    if not comparable or case.truth is None or not Presence.applies(targets, queries):
        return None
    own = case.truth.target[rows]
    others = stream(seed, "warnings: presence").permutation(len(targets))[:_TARGETS]
    kept = np.union1d(own, others)
    part, asked = targets.take(kept), queries.take(rows)
    truth = np.searchsorted(kept, own)
    attack = Presence().fit(part)
    right = credits(attack, asked, attack.link(asked), truth)
    low, chance = mean_interval(right, _LEVEL)[0], 1.0 / len(kept)
    if low <= max(2.0 * chance, _MATTERS):
        return None
    return Note("presence-identifies", rate=float(right.mean()), among=len(kept), n=len(rows))


def _order(queries: Ints, targets: Ints, case: Case) -> Note | None:
    """Compare the order of true pairs in both tables."""
    from scipy.stats import rankdata

    one, other = rankdata(queries), rankdata(targets)
    if np.ptp(other) == 0.0:
        return None
    rho = float(np.corrcoef(one, other)[0, 1])
    if abs(rho) < max(_ALIKE, _CLEAR / np.sqrt(len(queries) - 1)):
        return None
    by_id = all(_rising(table.users) for table in (case.targets, case.queries))
    return Note("order-tells", correlation=rho, n=len(queries), by="ids" if by_id else "rows")


def _rising(users: Any) -> bool:
    """Whether rows come by rising ids, as those of a log do: then it is the ids that come in one order."""
    if users is None:
        return False
    ids = np.asarray(users)
    return bool((ids[1:] >= ids[:-1]).all()) if ids.dtype.kind in "iu" else list(ids) == sorted(ids)
