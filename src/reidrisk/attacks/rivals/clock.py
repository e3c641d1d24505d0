"""Clock: link to the target who does the same things at the same hours of the day."""

from typing import Any, NamedTuple

import numpy as np

from reidrisk.attacks.registry import per_item, register
from reidrisk.attacks.rivals.base import Rival, holders, rows_of, sizes_of, with_data
from reidrisk.base.arrays import Bools, Floats, Ints
from reidrisk.records import Bags
from reidrisk.records.calendar import HOURS

_ROUNDS = 30  # of expectation-maximisation
_LEAST = 1e-3  # no part of a mixture is ruled out; shares are rounded to this, so that no order matters


class Shares(NamedTuple):
    """How far people repeat themselves: an item in its hour, the ``items`` of any hour, and the ``hours``."""

    repeat: float = 0.3
    items: float = 0.5
    hours: float = 0.5

    def within(self) -> "Shares":
        """Return the shares on their grid, none of them 0 or 1."""
        return Shares(*(min(max(round(one, 3), _LEAST), 1.0 - _LEAST) for one in self))


@register(kinds=(Bags,), cost=per_item(1e-9), default=True)
class Clock(Rival):
    """Link to the target who is there at the same hours of the day, and then has the same items.

    A query is there in hour h, and then has item i, with probabilities

        b g_h / g + (1 - b) p_h    and    r d_ih / d_h + (1 - r) (a d_i / d + (1 - a) p_i),

    where g_h of the g hours in which the target was there are such hours of the day, and d_ih of its d items, d_h of
    them in such hours. Each counts once per day and hour, however often it was had: events of one moment do not make a
    habit. p is by how many targets have it. The shares r, a and b are those under which what the targets have is most
    likely, each given the rest of its record (expectation-maximisation).

    Both sides must be of one time zone. Renaming items, shuffling people and doubling every amount change nothing; the
    posterior is too sure, as hours are seldom independent. Where hours are known of one side only, items count alone.

    >>> from reidrisk.records import Events
    >>> when = np.array(["2024-01-01T08", "2024-01-02T08", "2024-01-01T22", "2024-01-02T22"], dtype="M8[s]")
    >>> log = Events({"who": [1, 1, 2, 2], "what": ["walk"] * 4, "when": when}, user="who", items="what", time="when")
    >>> attack = Clock().fit(log.bags())
    >>> attack.link(log.take(np.array([3])).bags().take(np.array([1]))).target.tolist()
    [1]
    """

    description = (
        "Compares at which hours of the day somebody is there and what they then do, and links to the target whose "
        "habits make that most likely. It knows nothing of the system; how far people repeat themselves it learns (our "
        "own)."
    )
    kinds = (Bags,)
    likelihood = True
    one_scale = False  # a longer query is less likely
    rehearses = True  # it is no part of a rehearsal: records that are cut know no hours

    @classmethod
    def applies(cls, targets: Any, queries: Any) -> bool:
        """Whether the hours of both sides are known, and differ.

        >>> Clock.applies(Bags([[1]]), Bags([[1]]))
        False
        """
        sides = [getattr(side, "clock", None) for side in (targets, queries)]
        return all(side is not None and np.ptp(side.indices % HOURS) > 0 for side in sides if side is None or side.nnz)

    def _counts(self, table: Any, n_epochs: int) -> Any:
        if table.clock is not None:
            return table.clock
        from scipy import sparse

        held, shape = table.counts, (len(table), HOURS * (table.n_tokens + 1))  # nowhere there: hours are not known
        return sparse.csr_array((held.data.astype(np.int64), held.indices.astype(np.int64) * HOURS, held.indptr), shape)

    def _learn(self, counts: Any) -> None:
        cells = _Cells.of(counts)
        often = holders(cells.items) + 0.5
        there = (cells.there > 0).sum(axis=0) + 0.5
        self._popular = often / often.sum(), there / there.sum()
        self.shares_ = self._most_likely(cells)

    def _most_likely(self, cells: "_Cells") -> Shares:
        """Return the shares under which each item and hour is most likely given the others of its record."""
        popular, popular_hours = self._popular
        row, item, hour, times = cells.places
        total, by_hour = sizes_of(cells.items), cells.by_hour
        some = np.flatnonzero(total[row] > 1)
        row, item, hour, times = row[some], item[some], hour[some], times[some]
        own = (_at(cells.items, row, item) - 1) / (total[row] - 1)
        again = cells.known[row] * (times - 1) / np.maximum(by_hour[row, hour] - 1, 1)
        who, when = np.nonzero(cells.there * (cells.there.sum(axis=1) > 1)[:, None])
        days, left = cells.there[who, when], cells.there.sum(axis=1)[who] - 1
        found = Shares()
        for _ in range(_ROUNDS):
            items = _mixed(found.items, own, popular[item])
            repeated = _mixed(found.repeat, again, items.both)
            hours = _mixed(found.hours, (days - 1) / left, popular_hours[when])
            other = times * (1.0 - repeated.own)
            found = Shares(
                _mean(repeated.own, times, found.repeat),
                _mean(items.own, other, found.items),
                _mean(hours.own, days, found.hours),
            )
        return found.within()

    def _weigh_targets(self, counts: Any) -> Any:
        from scipy import sparse

        cells, shares, (popular, popular_hours) = _Cells.of(counts), self.shares_, self._popular
        total, row = np.maximum(sizes_of(cells.items), 1), rows_of(cells.items)
        anybody = popular[cells.items.indices]
        items = _mixed(shares.items, cells.items.data / total[row], anybody).both
        there = cells.there / np.maximum(cells.there.sum(axis=1, keepdims=True), 1)
        hours = _mixed(shares.hours, there, popular_hours[None]).both
        row, item, hour, times = cells.places
        own = _mixed(shares.items, _at(cells.items, row, item) / total[row], popular[item]).both
        again = shares.repeat / (1.0 - shares.repeat) * times / np.maximum(cells.by_hour[row, hour], 1) / own
        parts = (
            with_data(cells.items, np.log(items / ((1.0 - shares.items) * anybody))),
            np.log(hours / popular_hours),
            with_data(cells.joint, cells.known[row] * np.log1p(again)),
        )
        return sparse.hstack([sparse.csr_array(part) for part in parts], format="csr")

    def _weigh_queries(self, counts: Any) -> Any:
        from scipy import sparse

        cells = _Cells.of(counts)
        row, _, _, times = cells.places
        parts = (cells.items, cells.there, with_data(cells.joint, cells.known[row] * times))
        return sparse.hstack([sparse.csr_array(part) for part in parts], format="csr")


class _Cells(NamedTuple):
    """On how many days records have each item in each hour, each item in any hour, and anything in each hour."""

    joint: Any  # (n, 24 items)
    items: Any  # (n, items)
    there: Ints  # (n, 24)

    @classmethod
    def of(cls, counts: Any) -> "_Cells":
        from scipy import sparse

        joint, there = counts[:, :-HOURS], counts[:, -HOURS:]
        shape = (joint.shape[0], joint.shape[1] // HOURS)
        items = sparse.csr_array((joint.data.copy(), joint.indices // HOURS, joint.indptr.copy()), shape)
        items.sum_duplicates()
        return cls(joint, items, there.toarray())

    @property
    def known(self) -> Bools:
        """Of which records hours are known."""
        return np.asarray(self.there.any(axis=1))

    @property
    def places(self) -> tuple[Ints, Ints, Ints, Ints]:
        """Row, item, hour and number of days of each entry."""
        return rows_of(self.joint), self.joint.indices // HOURS, self.joint.indices % HOURS, self.joint.data

    @property
    def by_hour(self) -> Ints:
        """How many items each record has in each hour: (n, 24)."""
        row, _, hour, times = self.places
        found = np.zeros(self.there.shape, dtype=np.int64)
        np.add.at(found, (row, hour), times)
        return found


class _Mixture(NamedTuple):
    both: Floats  # probability
    own: Floats  # share of it that is the first part's


def _mixed(share: float, first: Floats, second: Floats) -> _Mixture:
    both = share * first + (1.0 - share) * second
    return _Mixture(both, share * first / both)


def _mean(values: Floats, weight: Any, otherwise: float) -> float:
    whole = float(weight.sum())
    return float((values * weight).sum()) / whole if whole > 0.0 else otherwise


def _at(held: Any, row: Ints, column: Ints) -> Ints:
    """Return entries of a csr_array in canonical order, all of which are there."""
    width = np.int64(held.shape[1])
    return np.asarray(held.data[np.searchsorted(rows_of(held) * width + held.indices, row * width + column)])
