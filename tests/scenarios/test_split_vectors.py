"""One table of vectors, several of a person, split in two."""

import numpy as np
import pytest

from reidrisk.base.errors import DataError, OptionError
from reidrisk.records import Vectors
from reidrisk.scenarios import Split, TwoTables


def table(counts=(4, 1, 3, 2), time=False):
    owner = np.repeat(np.arange(len(counts)), counts)
    values = np.arange(len(owner), dtype=float)[:, None] + [[1.0, 2.0]]
    return Vectors.of_several(values, owner, np.arange(len(owner))[::-1] if time else None)


@pytest.mark.parametrize("by", ["random", "time"])
@pytest.mark.parametrize("share", [0.01, 0.5, 0.9])
def test_every_vector_is_on_one_side_and_each_side_has_one(by, share):
    whole = table(time=by == "time")
    case = Split(whole, by=by, share=share).case(3)
    both = np.concatenate([case.targets.several.values, case.queries.several.values])
    assert sorted(map(tuple, both.tolist())) == sorted(map(tuple, whole.several.values.tolist()))
    assert case.truth.target.tolist() == [0, 2, 3]
    assert case.queries.users.tolist() == [0, 2, 3]
    notes = {note.code: note for note in case.notes}
    assert notes["nothing-on-one-side"]["unasked"] == 1
    assert notes["several-vectors"]["known"] + notes["several-vectors"]["asked"] == 10
    if by == "time":  # the latest have the lowest numbers here
        for i, target in enumerate(case.truth.target):
            ours, theirs = case.queries.take(slice(i, i + 1)), case.targets.take(slice(target, target + 1))
            assert ours.several.values[:, 0].max() < theirs.several.values[:, 0].min()


def test_the_seed_decides():
    whole = table((9, 9, 9))
    sides = [Split(whole, by="random").case(seed).queries.several.values.tolist() for seed in (1, 1, 2)]
    assert sides[0] == sides[1] != sides[2]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"by": "time"}, OptionError, "split them at random"),
        ({"by": "column"}, OptionError, "no columns"),
        ({"by": "random", "apart": True}, OptionError, "leave out apart"),
        ({"by": "random", "independent": True}, OptionError, "leave out apart"),
    ],
)
def test_what_makes_no_sense_is_refused(options, error, message):
    with pytest.raises(error, match=message):
        Split(table(), **options)


def test_one_vector_per_person_is_nothing_to_split():
    for single in (Vectors(np.eye(3)), table((1, 1))):
        with pytest.raises(DataError, match="has two vectors, so there is nothing to split") as caught:
            Split(single, by="random")
        assert "\n" not in str(caught.value)
    with pytest.raises(DataError, match="all vectors are of one person"):
        Split(table((3,)), by="random").case()
    with pytest.raises(DataError, match="of one moment"):
        Split(Vectors.of_several(np.eye(4), [1, 1, 2, 2], time=np.zeros(4)), by="time").case()


def test_two_tables_may_have_several_of_a_person():
    case = TwoTables(table(), table((2, 2, 0, 5))).case()
    assert case.truth.target.tolist() == [0, 1, 3]
    assert case.notes[0]["queries"] == 3
