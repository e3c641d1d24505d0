"""Coarser records: the parents of items, the most common items and 'other', or a coarser grid of time."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

import numpy as np

from reidrisk.base import DataError, Ints, OptionError, Vocabulary, whole
from reidrisk.mitigations import rows
from reidrisk.mitigations.base import Mitigation, Side, released_tables
from reidrisk.mitigations.registry import register
from reidrisk.records import Bags, Case, Traces

OTHER = "other"


class _Merged(NamedTuple):
    """What each item is called now, over a vocabulary that has the old items too."""

    to: Ints
    n_tokens: int
    vocabulary: Vocabulary | None


@register(kinds=(Traces, Bags), strengths=(1000, 100, 20))
@dataclass(frozen=True)
class Coarsen(Mitigation):
    """Put the parent of a ``taxonomy``, or 'other' for all but the ``keep`` most common items, in an item's place.

    ``taxonomy`` says the parent of each label; a label that is its own parent stays. ``every`` makes the grid of time
    coarser: of that many periods of Traces, the most frequent item (of equals, the first) stands for all, in the first
    of them, and nothing is observed in the others. One of the three. An attacker sees what was done, and does the same.

    >>> table = Bags([[3, 0, 1], [2, 1, 0]], vocabulary=Vocabulary(["tea", "rum", "gin"]))
    >>> changed = Coarsen({"tea": "tea", "rum": "spirits", "gin": "spirits"}).apply(Case(table, table, None))
    >>> changed.queries.vocabulary.labels, changed.queries.counts.toarray().tolist()
    (('tea', 'rum', 'gin', 'spirits'), [[3, 0, 0, 1], [2, 0, 0, 1]])
    """

    main = "keep"
    of_items = True
    taxonomy: Mapping[str, str] | None = field(default=None, hash=False)
    keep: int | None = None
    every: int | None = None

    def __post_init__(self) -> None:
        given = [name for name in ("taxonomy", "keep", "every") if getattr(self, name) is not None]
        if len(given) != 1:
            raise OptionError(f"Coarsen takes one of taxonomy, keep and every, not {' and '.join(given) or 'none'}")
        if self.taxonomy is None:
            whole(given[0], getattr(self, given[0]), least=1 if self.every is None else 2)

    @property
    def text(self) -> str:
        """The change as a text; a taxonomy is named by its number of parents."""
        return super().text if self.taxonomy is None else f"{self.name}:parents={len(set(self.taxonomy.values()))}"

    def check(self, case: Any, seed: int, side: str) -> None:
        """Refuse a grid of records without time, and a taxonomy of records without labels."""
        super().check(case, seed, side)
        kind = type(case.queries).__name__
        if self.every is not None and not isinstance(case.queries, Traces):
            raise DataError(f"{kind} have no periods to merge; coarsen their items, by keep= or a taxonomy")
        if self.taxonomy is not None and _labels(case) is None:
            raise DataError(f"these {kind} have no labels that a taxonomy could know; read them with a vocabulary")

    @classmethod
    def usual(cls, case: Case) -> tuple[Self, ...]:
        """Return those of 1000, 100 and 20 items that are fewer than there are."""
        there = int((rows.frequencies(case.queries) > 0).sum())
        return tuple(cls(keep=k) for k in cls.strengths if k < there)

    @classmethod
    def ladder(cls, case: Case) -> tuple[Self, ...]:
        """Return numbers of items, one fewer than there are down to 1."""
        there = int((rows.frequencies(case.queries) > 0).sum())
        steps = np.unique(np.geomspace(1, max(there - 1, 1), 20).astype(int))[::-1]
        return tuple(cls(keep=int(k)) for k in steps)

    def _repeatable(self) -> bool:
        return True

    def _learn(self, case: Case, side: Side) -> _Merged:
        n = case.queries.n_tokens
        if self.every is not None:
            return _Merged(np.arange(n), n, _vocabulary(case))
        if self.taxonomy is not None:
            return self._parents(case)
        often = sum((rows.frequencies(table) for table in released_tables(case, side)), start=np.int64(0))
        kept = np.argsort(-often, kind="stable")[: self.keep]
        to = np.full(n, n, dtype=np.int64)
        to[kept] = kept
        labels = _labels(case)
        return _Merged(to, n + 1, None if labels is None else Vocabulary((*labels, _new(OTHER, labels))))

    def _parents(self, case: Case) -> _Merged:
        taxonomy, labels = self.taxonomy or {}, _labels(case) or ()
        seen = rows.frequencies(case.targets) + rows.frequencies(case.queries) > 0
        missing = [label for token, label in enumerate(labels) if seen[token] and label not in taxonomy]
        if missing:
            named = ", ".join(map(repr, missing[:3])) + (", …" if len(missing) > 3 else "")
            known = f"the taxonomy misses {len(missing):,} of {int(seen.sum()):,} items, {named}"
            raise DataError(f"{known}; say the parent of each, or that it is its own")
        parents = [taxonomy.get(label, label) for label in labels]
        everything = tuple(dict.fromkeys((*labels, *parents)))
        found = Vocabulary(everything)
        return _Merged(found.encode(parents), len(found), found)

    def _changed(self, table: Any, learnt: _Merged, rng: np.random.Generator) -> Any:
        if self.every is not None:
            return _coarse_time(table, self.every)
        return rows.relabelled(table, learnt.to, learnt.n_tokens, learnt.vocabulary)

    def _along(self, table: Any, learnt: _Merged) -> Any:
        return rows.relabelled(table, np.arange(table.n_tokens), learnt.n_tokens, learnt.vocabulary)


def to_parents(case: Case, taxonomy: Mapping[str, str]) -> Coarsen | None:
    """Return the coarsening to parents; a label that the taxonomy misses stays, and none where it names none of them.

    >>> table = Bags([[3, 0, 1]], vocabulary=Vocabulary(["tea", "rum", "gin"]))
    >>> to_parents(Case(table, table, None), {"rum": "spirits", "gin": "spirits"}).taxonomy["tea"]
    'tea'
    """
    labels = _labels(case) or ()
    if not any(taxonomy.get(label, label) != label for label in labels):
        return None
    return Coarsen({label: taxonomy.get(label, label) for label in labels})


def _coarse_time(table: Traces, every: int) -> Traces:
    """Keep of each few periods the most frequent item, in the first of them."""
    tokens = np.full(table.tokens.shape, -1, dtype=table.tokens.dtype)
    for start in range(0, table.n_epochs, every):
        window = table.tokens[:, start : start + every]
        same = (window[:, :, None] == window[:, None, :]).sum(axis=2)
        best = np.where(window >= 0, same, 0).argmax(axis=1)
        tokens[:, start] = np.take_along_axis(window, best[:, None], axis=1)[:, 0]
    return Traces(tokens, table.n_tokens, table.users, table.vocabulary).with_notes(table.notes)


def _vocabulary(case: Case) -> Vocabulary | None:
    found: Vocabulary | None = case.queries.vocabulary or case.targets.vocabulary
    return found


def _labels(case: Case) -> tuple[str, ...] | None:
    found = _vocabulary(case)
    return None if found is None else found.labels


def _new(label: str, labels: tuple[str, ...]) -> str:
    """Return the label, or one like it that is not among these."""
    while label in labels:
        label = f"{label} items"
    return label
