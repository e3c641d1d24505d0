"""What to count of a log with amounts: the number of events where amounts are chance, their sums where they are not."""

import numpy as np

from reidrisk import Bags
from reidrisk.audit.amounts import settle_amounts
from reidrisk.records import Events


def _log(amounts_tell: bool, seed: int = 3) -> Events:
    rng = np.random.default_rng(seed)
    tastes = rng.dirichlet(np.full(20, 0.5), 300)
    who, what = np.repeat(np.arange(300), 30), np.concatenate([rng.choice(20, 30, p=taste) for taste in tastes])
    if amounts_tell:  # everybody buys the same things, and as much of each as only they do
        what = np.tile(np.arange(10), 900)
        much = rng.integers(1, 30, (300, 20))[who, what]
    else:
        much = rng.geometric(0.05, len(who))
    return Events({"who": who, "what": what, "n": much}, user="who", items="what", amount="n")


def test_amounts_that_are_chance_are_left_out() -> None:
    (settled,), (note,) = settle_amounts([_log(amounts_tell=False)], seed=0)
    assert note.code == "amounts-left-out"
    assert note["events"] > note["amounts"]
    assert settled.bags().counts.sum() == 9_000


def test_amounts_that_tell_people_apart_are_added_up() -> None:
    log = _log(amounts_tell=True)
    (settled,), (note,) = settle_amounts([log], seed=0)
    assert note.code == "amounts-counted"
    assert settled is log


def test_one_row_per_person_and_item_keeps_its_amounts() -> None:
    log = {"who": [1, 1, 2, 2], "what": ["a", "b", "a", "c"], "n": [5, 1, 2, 9]}
    events = Events(log, user="who", items="what", amount="n")
    (settled,), _ = settle_amounts([events], seed=0)
    assert settled.has_amounts


def test_both_logs_are_counted_alike() -> None:
    one, two = _log(amounts_tell=False), _log(amounts_tell=False, seed=4)
    settled, _ = settle_amounts([one, two], seed=0)
    assert not any(table.has_amounts for table in settled)


def test_other_tables_are_left_alone() -> None:
    bags, log = Bags([[1, 2]]), _log(amounts_tell=False).counted()
    assert settle_amounts([bags], seed=0) == ([bags], ())
    assert settle_amounts([log], seed=0) == ([log], ())
