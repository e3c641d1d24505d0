import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reidrisk import Vocabulary
from reidrisk.base.errors import DataError

labels = st.lists(st.text(min_size=1, max_size=8), min_size=1, max_size=20, unique=True)


@given(labels, st.data())
def test_decode_undoes_encode(names, data):
    vocabulary = Vocabulary(names)
    chosen = data.draw(st.lists(st.one_of(st.none(), st.sampled_from(names)), max_size=30))
    assert vocabulary.decode(vocabulary.encode(chosen)) == chosen


@given(labels)
def test_order_matters_for_equality_and_fingerprint(names):
    same, turned = Vocabulary(list(names)), Vocabulary(names[::-1])
    assert Vocabulary(names) == same
    assert Vocabulary(names).fingerprint == same.fingerprint
    if len(names) > 1:
        assert turned != same
        assert turned.fingerprint != same.fingerprint


def test_fingerprint_keeps_label_borders_apart():
    assert Vocabulary(["ab", "c"]).fingerprint != Vocabulary(["a", "bc"]).fingerprint


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["a", "b", "a"], "label 'a' occurs twice"),
        (["a", 3], "label 1 of the vocabulary is 3, a int"),
        (["a", "b\ud83d", "\ude00"], "label 1 of the vocabulary is .* holds half a character"),
    ],
)
def test_bad_labels_are_named(names, message):
    with pytest.raises(DataError, match=message):
        Vocabulary(names)


def test_unknown_label_and_token_are_refused():
    vocabulary = Vocabulary(["a", "b"])
    with pytest.raises(DataError, match="value 1 is 'z'"):
        vocabulary.encode(["a", "z"])
    with pytest.raises(DataError, match=r"must lie in \[-1, 2\)"):
        vocabulary.decode(np.array([2]))
