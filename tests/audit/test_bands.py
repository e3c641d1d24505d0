"""Items that are numbers: in bands where near ones mean the same, each by itself where they are ids."""

import numpy as np

from reidrisk import Bags
from reidrisk.audit.bands import settle_numbers
from reidrisk.records import Events


def _log(ids: bool, seed: int = 3) -> Events:
    rng = np.random.default_rng(seed)
    who = np.repeat(np.arange(60), 40)
    if ids:  # whose numbers are near says nothing
        liked = np.random.default_rng(9).permutation(600).reshape(60, 10)
        return Events({"who": who, "what": liked[who, rng.integers(0, 10, len(who))]}, user="who", items="what")
    usual = np.random.default_rng(9).uniform(0.0, 9_000.0, 60)
    steps = np.maximum(rng.normal(usual[who], 500.0), 0.0).astype(int) * (rng.random(len(who)) < 0.7)
    return Events({"who": who, "what": steps}, user="who", items="what")


def test_near_numbers_are_one_item_where_that_tells_more() -> None:
    logs = [_log(ids=False), _log(ids=False, seed=4)]
    banded, (note,) = settle_numbers(logs, seed=0)
    assert note.code == "numbers-banded"
    assert note["banded"] > note["exact"] + 0.1
    assert note["bands"] == banded[0].n_tokens <= 16
    assert banded[0].vocabulary == banded[1].vocabulary
    assert [len(one) for one in banded] == [len(one) for one in logs]


def test_ids_stay_items_of_their_own() -> None:
    log = _log(ids=True)
    assert settle_numbers([log], seed=0) == ([log], ())


def test_words_few_numbers_and_other_tables_are_left_alone() -> None:
    words = Events({"who": [1, 2] * 50, "what": [f"w{i}" for i in range(100)]}, user="who", items="what")
    few = Events({"who": [1, 2] * 50, "what": np.arange(100) % 30}, user="who", items="what")
    bags = Bags([[1, 2]])
    for table in (words, few, bags):
        assert settle_numbers([table], seed=0) == ([table], ())


def test_numbers_that_everybody_has_once_are_ids():
    rng = np.random.default_rng(0)
    popular = 1.0 / np.arange(1, 401) ** 0.7
    films = np.concatenate([rng.choice(400, 40, replace=False, p=popular / popular.sum()) for _ in range(60)])
    log = Events({"who": np.repeat(np.arange(60), 40), "film": films}, user="who", items="film")
    assert settle_numbers([log], seed=1) == ([log], ())
