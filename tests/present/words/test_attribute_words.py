"""What is said of people who are alone."""

from reidrisk import Bags, measure
from reidrisk.records import Attributes


def test_classes_are_read():
    table = Attributes({"age": [30, 30, 30, 41], "sex": ["f", "f", "m", "m"]})
    assert measure.classes(table).reading == (
        "Of 4 people, 50 % are alone with their age and sex; the smallest class has 1, and somebody who looks everyone "
        "up names 75 in 100 rightly."
    )
    population = Attributes({"age": [30] * 8 + [41] * 2, "sex": ["f", "m"] * 5})
    assert measure.classes(table, ["age"], population).reading.endswith(
        "names 50 in 100 rightly, and 22 in 100 among 10 people of the population."
    )


def test_unicity_is_read():
    assert measure.unicity(Bags([[1, 1, 0], [0, 1, 1]]), 2).reading.startswith(
        "Of people with at least 2 facts, 100 in 100 (16 to 100 in 100) are the only ones"
    )
