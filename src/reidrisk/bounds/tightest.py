"""Which bound is the tightest: the proven one with the smallest upper end, among those that say something."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from reidrisk.base.results import Bound, Result, Spoken


@dataclass(frozen=True, eq=False)
class Tightest(Spoken):
    """The tightest of several bounds of one setting, and those that say nothing."""

    setting: str
    name: str
    """Of the tightest bound; empty where none says anything, and the value is then 1."""
    value: float
    silent: tuple[str, ...] = ()
    """Names of the bounds at 1 or above: they exclude nothing."""


def tightest_of(bounds: Iterable[Bound]) -> Bound | None:
    """Return the bound with the smallest upper end among those that say something; the first of equal ones.

    Bounds that hold only within a model of people are passed over: an attacker who knows better may exceed them.

    >>> exact = Bound("exact", "random user", 0.3, 0.01, "")
    >>> estimated = Bound("estimated", "random user", 0.25, 0.01, "", low=0.2, high=0.4)
    >>> model = Bound("model", "random user", 0.1, 0.01, "", within_model=True)
    >>> tightest_of([exact, estimated, model]).name
    'exact'
    """
    telling = [bound for bound in bounds if bound.says_something and not bound.within_model]
    return min(telling, key=lambda bound: bound.high, default=None)


def tightest(bounds: Iterable[Result], setting: str) -> Tightest:
    """Name the tightest bound of a setting, and those that say nothing; anything that is no bound is passed over.

    >>> from reidrisk.bounds import summary
    >>> found = tightest(summary([[0.5, 0.0, 0.5], [0.0, 0.5, 0.5]]), "random user")
    >>> found.name, found.value, found.silent[0]
    ('optimal attacker', 0.75, 'local differential privacy')
    """
    these = [bound for bound in bounds if isinstance(bound, Bound) and bound.setting == setting]
    silent = tuple(bound.name for bound in these if not bound.says_something)
    best = tightest_of(these)
    return Tightest(setting, "", 1.0, silent) if best is None else Tightest(setting, best.name, best.value, silent)


def tightest_by_epochs(bounds: Iterable[Bound]) -> dict[int, Bound]:
    """Return, for each number of epochs, the tightest bound on linking one record at a time.

    Where there is none for that setting at all, those on linking everyone at once are taken: whoever links one record
    at a time can do so for all of them, and is right as often.

    >>> loose = Bound("a", "random user", 0.5, 0.01, "", n_epochs=2)
    >>> tight = Bound("b", "random user", 0.2, 0.01, "", n_epochs=2)
    >>> {r: bound.name for r, bound in tightest_by_epochs([loose, tight]).items()}
    {2: 'b'}
    """
    given = [bound for bound in bounds if not bound.within_model and bound.n_epochs is not None]
    asked = [bound for bound in given if bound.setting == "random user"] or given
    counts = sorted({bound.n_epochs for bound in asked if bound.n_epochs is not None})
    found = {r: tightest_of(bound for bound in asked if bound.n_epochs == r) for r in counts}
    return {r: bound for r, bound in found.items() if bound is not None}
