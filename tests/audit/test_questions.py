"""Which scenarios an audit asks of one or two tables."""

import numpy as np
import pytest

from reidrisk.audit.questions import Asked, questions, usual_period
from reidrisk.base.errors import DataError, OptionError
from reidrisk.records import Attributes, Bags, Events, Traces
from reidrisk.scenarios import Knows, Split, TwoTables
from reidrisk.scenarios.two_tables import traces_alike

FRAME = {"who": [1, 1, 1, 1, 1, 2, 2], "what": list("abcabca"), "day": [0, 1, 2, 9, 10, 3, 12], "side": list("xyxyxyx")}


def log(**more):
    return Events(FRAME | more, user="who", items="what", time="day", keep=["side"])


def kinds(found):
    return [(type(one).__name__, type(getattr(one, "table", getattr(one, "a", None))).__name__) for one in found]


def test_one_table_is_asked_what_it_can_answer():
    untimed = Events(FRAME, user="who", items="what")
    assert kinds(questions([log()], None, None, None)) == [("Split", "Events"), *[("Knows", "Events")] * 2]
    assert kinds(questions([untimed], None, None, None)) == [("Knows", "Events")]
    assert kinds(questions([Traces([[0, 1], [1, 0]], 2)], None, None, None)) == [
        ("Split", "Traces"),
        ("Knows", "Traces"),
    ]
    assert kinds(questions([Bags([[2, 1]])], None, None, None)) == [("Knows", "Bags")]
    (people,) = questions([Attributes({"age": [1, 2], "sex": ["f", "m"]})], None, None, None)
    assert list(people.columns) == ["age", "sex"]


def test_nobody_is_asked_for_more_facts_than_there_are():
    assert questions([Bags([[2, 1], [0, 1]])], None, None, None)[0].facts == 3
    assert questions([log()], None, None, None)[1].facts == 4


def test_two_logs_are_bags_and_traces_beside_them():
    def asked(*given):
        return [one.every for one in questions([*given[:2]], None, None, *given[2:])]

    untimed = Events(FRAME, user="who", items="what")
    assert asked(log(), log(), None) == [1.0, None]  # one item per day is all there is
    assert asked(log(), log(), 7) == [None, 7]  # one per week is less
    assert asked(log(), untimed, None) == [None]
    assert asked(log(), log(day=[20, 21, 22, 29, 30, 23, 32]), None) == [None]  # never at the same time
    one, two = traces_alike(log(), log(day=[20, 21, 22, 29, 30, 23, 32]), 7)
    assert one.n_epochs == two.n_epochs == 5
    assert (one.tokens[:, 2:] == -1).all()
    with pytest.raises(DataError):
        traces_alike(log(), Events(FRAME, user="who", items="what"), 7)
    with pytest.raises(OptionError):
        traces_alike(log(), log(day=np.arange(7) * 1000), 1)


def test_the_usual_period_is_the_longest_that_keeps_nearly_all_events():
    def often(days, until=360):
        dates = np.datetime64("2024-01-01") + np.arange(0, until, days)
        frame = {"who": [1] * len(dates), "what": ["tea"] * len(dates), "day": dates}
        return Events(frame, user="who", items="what", time="day")

    for days, until, every in ((31, 360, "month"), (8, 360, "week"), (2, 50, "day"), (31, 36_000, None)):
        assert usual_period([often(days, until)] * 2) == every
    assert usual_period([often(2), often(2)]) == "week"  # too many days, and no longer period keeps them
    assert [one.every for one in questions([often(2), often(2)], None, None, None)] == [None, "week"]
    half = Events({"who": [1, 1], "what": ["a", "b"], "at": [0.5, 1.5]}, user="who", items="what", time="at")
    assert usual_period([half, half]) is None


def test_a_scenario_is_named_with_its_own_options():
    (found,) = questions([log()], Asked(name="split", by="column", column="side"), None, None)
    assert isinstance(found, Split)
    found = questions([log()], Asked(name="knows", facts=2, errors=0.1, which="first"), None, None)
    assert [type(one) for one in found] == [Knows, Knows]
    (found,) = questions([log(), log()], Asked(name="two-tables"), np.array([0, 1]), None)
    assert isinstance(found, TwoTables)
    with pytest.raises(OptionError, match="no option"):
        questions([log()], Asked(name="split", facts=2), None, None)
    with pytest.raises(OptionError, match="2 tables"):
        questions([log()], Asked(name="two-tables"), None, None)
    with pytest.raises(OptionError):
        Asked(name="guess")
