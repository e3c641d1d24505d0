"""What is said of histories that were replayed through the Topics API, and of who met whom."""

from types import SimpleNamespace

import numpy as np
import pytest

from reidrisk import TopSets
from reidrisk.base.notes import Note
from reidrisk.present import words


def test_a_replay_says_how_much_has_a_topic_and_how_much_is_padding():
    class Replay(SimpleNamespace):
        pass

    found = Replay(
        visits=SimpleNamespace(shares={"topics": 126 / 147}, n=147),
        top_sets=TopSets(np.arange(24).reshape(6, 2, 2), 24),
        epochs=SimpleNamespace(n=2),
        active=np.ones((6, 2)),
        n_padding=6,
        n_idle=3,
    )
    said = words.reading(found)
    assert said.startswith(
        "86 % of 147 visits have a topic, and they fill 75 % of the places in the top sets of 6 users"
    )
    assert said.endswith("25 % of the sets are of epochs without a single visit.")


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("met-always", "Every observer meets every user in every epoch"),
        ("met-when-active", "every epoch in which the user has a visit, and of no other"),
        ("met-on-visits", "only on a visit to its site"),
        ("one-caller", "One caller is on every page"),
        ("only-active-kept", "a visit in every epoch were kept"),
        ("epochs-overlap", "Epochs overlap"),
    ],
)
def test_who_met_whom_is_said(code, said):
    assert said in words.sentence(Note(code))
