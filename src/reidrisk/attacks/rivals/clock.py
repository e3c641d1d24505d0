"""Clock: link to the target who does the same things at the same hours of the day."""

from typing import Any

import numpy as np

from reidrisk.attacks.hours import HourCells, HourHabits
from reidrisk.attacks.registry import per_item, register
from reidrisk.attacks.rivals.base import Rival
from reidrisk.records import Bags
from reidrisk.records.calendar import HOURS


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
        self.habits_ = HourHabits.learnt(HourCells.of(counts))

    def _weigh_targets(self, counts: Any) -> Any:
        from scipy import sparse

        cells = HourCells.of(counts)
        hours, never = self.habits_.hours(cells)
        parts = (self.habits_.items(cells), hours, sparse.csr_array(never * np.ones((len(cells.total), 1))))
        return sparse.hstack([*parts, self.habits_.repeated(cells)], format="csr")

    def _weigh_queries(self, counts: Any) -> Any:
        from scipy import sparse

        cells = HourCells.of(counts)
        parts = (cells.items, cells.there, sparse.csr_array(cells.total[:, None]), cells.repeated())
        return sparse.hstack(parts, format="csr")
