"""Several changes, one after the other."""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from reidrisk.base import DataError, Ints, OptionError
from reidrisk.mitigations.base import Mitigation, Side, View
from reidrisk.mitigations.noise import RandomItem
from reidrisk.mitigations.people import DropPeople
from reidrisk.records import Case


@dataclass(frozen=True, init=False)
class Together(Mitigation):
    """Make these changes one after the other; what a later one learns, it learns of what the earlier ones released.

    They are given one by one, ``Together(Draw(0.5), SuppressRare(3))``, or as a tuple.

    >>> from reidrisk import Bags, mitigations
    >>> table = Bags([[4, 1, 0], [3, 0, 1]])
    >>> both = mitigations.named("suppress-rare:2 + shorten:2")
    >>> both.apply(Case(table, table, None)).queries.counts.toarray().tolist()
    [[2, 0, 0], [2, 0, 0]]
    """

    changes: tuple[Mitigation, ...]

    def __init__(self, *changes: Any) -> None:
        given = changes[0] if len(changes) == 1 and isinstance(changes[0], list | tuple) else changes
        object.__setattr__(self, "changes", tuple(given))
        wrong = [one for one in self.changes if not isinstance(one, Mitigation)]
        if wrong or len(self.changes) < 2:
            raise OptionError(f"Together takes two changes or more, not {self.changes!r}")
        if any(isinstance(one, DropPeople) for one in self.changes):
            raise OptionError("DropPeople is judged on half of the people, so it stands alone; leave it out")

    @property
    def text(self) -> str:
        """The texts of the changes."""
        return " + ".join(one.text for one in self.changes)

    def check(self, case: Any, seed: int, side: str) -> None:
        """Refuse what one of the changes does not fit."""
        for one in self.changes:
            one.check(case, seed, side)

    def within(self, trial: Any, case: Case) -> "Together":
        """Return the changes, each for what the trial declares."""
        return Together(tuple(one.within(trial, case) for one in self.changes))

    def helps_to_know(self, side: Side = "queries") -> bool:
        """Whether it helps to know of one of them."""
        return any(one.helps_to_know(side) for one in self.changes)

    def released(self, case: Case, seed: int = 0, side: Side = "queries") -> View:
        """Return the case after all changes."""
        self.check(case, seed, side)
        view = View(case, np.arange(len(case.queries)))
        plain = view
        for one in self.changes:
            view = _after(view, one.released(view.case, seed, side))
            if view.replaced > 0.0 and not isinstance(one, RandomItem):
                plain = _after(plain, one.released(plain.case, seed, side))
            elif view.replaced == 0.0:
                plain = view
        return replace(view, plain=plain)

    def known_to_attacker(self, case: Case, seed: int = 0, side: Side = "queries", rows: Ints | None = None) -> View:
        """Return the case as an attacker makes it who knows of all changes."""
        view = View(case, np.arange(len(case.queries)))
        asked = rows
        for one in self.changes:
            view = _after(view, one.known_to_attacker(view.case, seed, side, asked))
            asked = None if rows is None else np.flatnonzero(np.isin(view.part_of, rows))
        return view

    @classmethod
    def ladder(cls, case: Case) -> tuple[Self, ...]:
        """Refuse: which changes go together is for the caller to say."""
        raise DataError("there is no ladder of changes together; search for one with mitigations.search")

    def _changed(self, table: Any, learnt: Any, rng: np.random.Generator) -> Any:
        return table


def _after(one: View, two: View) -> View:
    """Return the second view, which was made of the first one's case, in terms of what was before both."""
    known_as = one.known_as if two.known_as is None else two.known_as
    if one.known_as is not None and two.known_as is not None:
        known_as = one.known_as[two.known_as]
    noise = 1.0 - (1.0 - one.noise) * (1.0 - two.noise)
    replaced = 1.0 - (1.0 - one.replaced) * (1.0 - two.replaced)
    system = two.mechanism or one.mechanism
    part_of = one.part_of[two.part_of]
    return replace(two, part_of=part_of, known_as=known_as, noise=noise, mechanism=system, replaced=replaced)
