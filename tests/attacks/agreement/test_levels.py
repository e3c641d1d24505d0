"""Levels: which values are near each other, and how many targets hold them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reidrisk import attacks, measure
from reidrisk.attacks.agreement.levels import levels_of
from reidrisk.base.errors import OptionError
from reidrisk.records import Attributes

KINDS = {"n": "number", "code": "prefix", "word": "category"}
rows = st.tuples(
    st.one_of(st.none(), st.integers(0, 12)),
    st.one_of(st.none(), st.text("ab1", min_size=1, max_size=3)),
    st.one_of(st.none(), st.sampled_from("xyz")),
)


def closest(column, one, two, bands, lengths):
    """Return the level of two values of a column, by comparing them; None = not near."""
    if one == two:
        return 0
    if column == "n":
        return next((level for level, band in enumerate(bands, 1) if abs(one - two) <= band), None)
    if column == "code":
        return next((level for level, length in enumerate(lengths, 1) if one[:length] == two[:length]), None)
    return None


@settings(deadline=None, max_examples=80)
@given(st.lists(rows, min_size=2, max_size=12))
def test_levels_are_those_of_comparing_the_values(table):
    frame = {name: [row[place] for row in table] for place, name in enumerate(KINDS)}
    frame = {name: values for name, values in frame.items() if any(value is not None for value in values)}
    if not frame:
        return
    people = Attributes(frame, columns={name: KINDS[name] for name in frame})
    bands = (1, 3)
    found = levels_of(people, {"n": bands} if "n" in frame else None)
    level = found.of(people.tokens[:, None], people.tokens[None])
    for place, column in enumerate(people.columns):
        lengths = range(max(map(len, column.labels)) - 1, 0, -1)
        values = frame[column.name]
        for i, one in enumerate(values):
            for j, two in enumerate(values):
                got = int(level[i, j, place])
                if one is None or two is None:
                    assert got == len(found.first) + 1
                    continue
                wanted = closest(column.name, one, two, bands, lengths)
                if wanted is None:
                    assert got == len(found.first)
                    continue
                # A level that adds nobody to the one before is left out.
                assert (got == 0) == (wanted == 0)
                assert got < found.depth[place]
        present = [value for value in values if value is not None]
        for i, one in enumerate(values):
            if one is None:
                continue
            share = found.share[0, people.tokens[i, place]]
            assert share == pytest.approx(present.count(one) / len(present))


def test_ranges_hold_those_before_and_shares_grow():
    people = Attributes(
        {"age": [20, 21, 22, 30, 50, 80, 81], "zip": ["101", "102", "111", "112", "201", "2", "301"]},
        columns={"zip": "prefix"},
    )
    found = levels_of(people, {"age": [1, 10]})
    assert found.depth.tolist() == [3, 3]
    assert (np.diff(found.first, axis=0) <= 0).all()
    assert (np.diff(found.last, axis=0) >= 0).all()
    assert (np.diff(found.share, axis=0) >= 0).all()
    assert found.share[:, 0].tolist() == pytest.approx([1 / 7, 2 / 7, 4 / 7])  # 20; with 21; with 22 and 30


def test_bands_halve_from_the_interquartile_range_down_to_the_smallest_difference():
    ages = Attributes({"age": np.repeat(np.arange(20, 61), 3)})  # a range of 20, differences of 1
    found = levels_of(ages)
    assert (found.last - found.first)[:, 20].tolist() == [0, 2, 4, 10, 20, 40]  # 1.25, 2.5, 5, 10, 20 to either side
    answers = Attributes({"answer": np.repeat(np.arange(1, 8), [5, 9, 20, 30, 20, 9, 5])})  # a range of 2
    found = levels_of(answers)
    assert (found.last - found.first)[:, 3].tolist() == [0, 2, 4]


def test_a_column_of_mostly_one_number_has_bands_by_its_standard_deviation():
    people = Attributes({"gain": [0] * 90 + list(range(1_000, 1_500, 50))})  # 379, differences of 50
    found = levels_of(people)
    assert (found.last - found.first)[:, 5].tolist() == [0, 2, 6, 9, 9][: int(found.depth[0])]


@pytest.mark.parametrize("n", [300, 600])
def test_a_salary_that_is_off_by_three_links_nearly_everybody(n):
    rng = np.random.default_rng(n)
    salary = rng.integers(20_000, 90_000, n)
    tables = Attributes({"salary": salary}), Attributes({"salary": salary + rng.integers(-3, 4, n)})
    known, asked = Attributes.together(*tables)
    assert measure.random_user(attacks.FellegiSunter(), known, asked, np.arange(n)).rate > 0.95


def test_ranks_undo_a_raise_for_all_and_find_nobody_where_there_is_nothing_to_find():
    rng = np.random.default_rng(0)
    salary = rng.integers(20_000, 90_000, 400)
    raised, other = np.rint(salary * 1.02).astype(int), rng.permutation(salary)
    for later, least, most in ((raised, 0.95, 1.0), (other, 0.0, 0.02)):
        known, asked = Attributes.together(Attributes({"salary": salary}), Attributes({"salary": later}))
        rate = measure.random_user(attacks.ByRank(), known, asked, np.arange(400)).rate
        assert least <= rate <= most


@pytest.mark.parametrize("bands", [{"town": [1]}, {"age": [2, 1]}, {"age": [0]}, {"age": ["1"]}, {"size": [1]}])
def test_bands_are_refused_in_one_line(bands):
    with pytest.raises(OptionError, match="bands"):
        levels_of(Attributes({"age": [1, 2], "town": ["a", "b"]}), bands)


def test_answers_under_other_labels_are_linked_by_how_many_give_them():
    rng = np.random.default_rng(0)
    shares = rng.dirichlet(np.ones(3), 25)
    answers = np.array([rng.choice(3, 300, p=share) for share in shares]).T
    one = {f"q{i}": [f"{a}" for a in column] for i, column in enumerate(answers.T)}
    two = {f"q{i}": [("no", "perhaps", "yes")[a] for a in column] for i, column in enumerate(answers.T)}
    kinds = dict.fromkeys(one, "category")
    known, asked = Attributes.together(Attributes(one, columns=kinds), Attributes(two, columns=kinds))
    assert measure.random_user(attacks.ByRank(), known, asked, np.arange(300)).rate > 0.95
    assert measure.random_user(attacks.FellegiSunter(), known, asked, np.arange(300)).rate < 0.05
