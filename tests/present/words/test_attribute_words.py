"""What is said of people who are alone."""

from reidrisk import Bags, measure
from reidrisk.base.notes import Note
from reidrisk.present import words
from reidrisk.records import Attributes


def test_classes_are_read():
    table = Attributes({"age": [30, 30, 30, 41], "sex": ["f", "f", "m", "m"]})
    assert measure.classes(table).reading == (
        "Of 4 people, 50 % are alone with their age and sex; the smallest class has 1, and somebody who looks everyone "
        "up names 75 in 100 correctly."
    )
    population = Attributes({"age": [30] * 8 + [41] * 2, "sex": ["f", "m"] * 5})
    assert measure.classes(table, ["age"], population).reading.endswith(
        "names 50 in 100 correctly, and 22 in 100 among 10 people of the population."
    )


def test_unicity_is_read():
    assert measure.unicity(Bags([[1, 1, 0], [0, 1, 1]]), 2).reading.startswith(
        "Of people with at least 2 facts, 100 in 100 (16 to 100 in 100) are the only ones"
    )


def test_classes_of_a_case_are_told_without_those_of_few_people():
    note = Note("equivalence-classes", n=500, k=2, classes=100, alone=None, least=20)
    assert words.sentence(note) == (
        "In these columns 500 people fall into 100 classes of equal values; the smallest has 2 (k-anonymity), and "
        "fewer than 20 are alone. An attacker who knows who is in the table, and makes no errors, names 20 in 100 "
        "correctly, and 50 in 100 of the smallest class."
    )
