"""Which scenarios an audit asks of one or two tables."""

import numpy as np
import pytest

from reidrisk.audit.questions import Asked, questions, traces_alike
from reidrisk.base.errors import DataError, OptionError
from reidrisk.records import Attributes, Bags, Events, Traces
from reidrisk.scenarios import Knows, Split, TwoTables

FRAME = {"who": [1, 1, 1, 1, 1, 2, 2], "what": list("abcabca"), "day": [0, 1, 2, 9, 10, 3, 12], "side": list("xyxyxyx")}


def log(**more):
    return Events(FRAME | more, user="who", items="what", time="day", keep=["side"])


def kinds(found):
    return [(type(one).__name__, type(getattr(one, "table", getattr(one, "a", None))).__name__) for one in found]


def test_one_table_is_asked_what_it_can_answer():
    untimed = Events(FRAME, user="who", items="what")
    assert kinds(questions([log()], None, None, None)) == [("Split", "Events"), ("Knows", "Events")]
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
    assert kinds(questions([log(), log()], None, None, None)) == [("TwoTables", "Events")]
    assert kinds(questions([log(), log()], None, None, 7)) == [("TwoTables", "Events"), ("TwoTables", "Traces")]
    one, two = traces_alike(log(), log(day=[20, 21, 22, 29, 30, 23, 32]), 7)
    assert one.n_epochs == two.n_epochs == 5
    assert (one.tokens[:, 2:] == -1).all()
    with pytest.raises(DataError):
        traces_alike(log(), Events(FRAME, user="who", items="what"), 7)
    with pytest.raises(OptionError):
        traces_alike(log(), log(day=np.arange(7) * 1000), 1)


def test_a_scenario_is_named_with_its_own_options():
    (found,) = questions([log()], Asked(name="split", by="column", column="side"), None, None)
    assert isinstance(found, Split)
    (found,) = questions([log()], Asked(name="knows", facts=2, errors=0.1, which="first"), None, None)
    assert isinstance(found, Knows)
    (found,) = questions([log(), log()], Asked(name="two-tables"), np.array([0, 1]), None)
    assert isinstance(found, TwoTables)
    with pytest.raises(OptionError, match="no option"):
        questions([log()], Asked(name="split", facts=2), None, None)
    with pytest.raises(OptionError, match="2 tables"):
        questions([log()], Asked(name="two-tables"), None, None)
    with pytest.raises(OptionError):
        Asked(name="guess")
