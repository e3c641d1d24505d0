"""Values of events count where two logs agree in them, and nowhere else."""

import numpy as np
import pytest

from reidrisk import io
from reidrisk.audit.valued import settle_values
from reidrisk.records import Events


def sites(kind, seed=0, n=80):
    """Two sites: people rate 25 films on each, most of them on both, with the same, a new or only one value."""
    rng = np.random.default_rng(seed)
    logs = [{"who": [], "film": [], "day": [], "stars": []} for _ in range(2)]
    for user in range(n):
        films = rng.choice(150, 35, replace=False)
        stars = rng.integers(1, 6, 35)
        for log, some in zip(logs, (slice(0, 25), slice(10, 35)), strict=True):
            said = {"same": stars, "anew": rng.integers(1, 6, 35), "one": np.full(35, 5)}[kind][some]
            log["who"] += [user] * 25
            log["film"] += [f"f{film}" for film in films[some]]
            log["day"] += rng.random(25).tolist()
            log["stars"] += said.tolist()
    return logs


@pytest.mark.parametrize(("kind", "counts"), [("same", True), ("anew", False), ("one", False)])
def test_values_count_only_where_both_logs_say_the_same(kind, counts):
    one, two = (Events(log, user="who", items="film", time="day", keep="stars") for log in sites(kind))
    two = two.over(one.vocabulary) if set(two.vocabulary.labels) <= set(one.vocabulary.labels) else two
    both = type(one.vocabulary)(sorted({*one.vocabulary.labels, *two.vocabulary.labels}))
    tables, notes = settle_values([one.over(both), two.over(both)])
    assert [note.code for note in notes] == ["values-counted"] * counts
    assert len(tables[0]) == len(one) * (1 + counts)
    assert tables[0].vocabulary == tables[1].vocabulary
    if counts:
        assert notes[0]["column"] == "stars"
        assert notes[0]["agree"] > 0.9 > 0.4 > notes[0]["chance"]
        plain = tables[0].bags().counts[:, [tables[0].vocabulary.labels.index(label) for label in both.labels]]
        assert (plain != one.over(both).bags().counts).nnz == 0


def test_one_log_and_logs_without_times_or_without_the_column_stay():
    one, two = (Events(log, user="who", items="film", time="day", keep="stars") for log in sites("same"))
    timeless = Events(sites("same")[0], user="who", items="film", keep="stars")
    without = Events(sites("same")[1], user="who", items="film", time="day")
    for tables in ([one], [timeless, two], [one, without]):
        assert settle_values(tables) == (tables, ())


def test_a_column_of_few_values_is_kept_unless_items_were_named():
    log = {"user": [1, 1, 2, 2], "item": list("abab"), "time": [1.0, 2.0, 3.0, 4.0], "rating": [1, 5, 3, 3]}
    log |= {"note": ["x", "x", "x", "x"], "text": [f"word {i}" for i in range(4)]}
    many = {name: list(values) * 30 for name, values in log.items()} | {"text": [f"word {i}" for i in range(120)]}
    assert io.read_export(many).records.columns == ("rating",)
    assert io.read_export(many, io.Reading(items=("item",))).records.columns == ()
