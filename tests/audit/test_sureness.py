"""How sure an attack is, is shown where its probabilities hold: as stated, or put right by other people's links."""

import dataclasses

import numpy as np

from reidrisk import Traces, attacks
from reidrisk.audit import AuditSpec
from reidrisk.audit.sureness import how_sure


class Boaster(attacks.Hamming):
    """Finds whom Hamming finds, and says what it likes of it."""

    def __init__(self, said):
        super().__init__()
        self.said = said

    def link(self, queries, probability=False, *, engine=None):
        links = super().link(queries, engine=engine)
        return dataclasses.replace(links, probability=self.said[: len(links)]) if probability else links


def tables(n, seed=0):
    rng = np.random.default_rng(seed)
    tokens = rng.integers(0, 400, (n, 3))
    found = rng.random(n) < 0.5
    other = np.where(found[:, None], tokens, rng.integers(0, 400, (n, 3)))
    return Traces(tokens, 400), Traces(other, 400), found


def asked(said, n=600):
    targets, queries, found = tables(n)
    return how_sure([Boaster(said(found))], {"Boaster": 0.5}, targets, queries, np.arange(n), AuditSpec())


def test_probabilities_that_hold_are_shown_as_they_are():
    sure = asked(lambda found: np.where(found, 0.99, 0.01))
    assert sure.attack == "Boaster"
    assert not sure.notes
    assert sure.curve[-2].precision > 0.95


def test_probabilities_that_are_off_are_put_right():
    sure = asked(lambda found: np.where(found, 0.6, 0.4))
    assert [note.code for note in sure.notes] == ["probabilities-corrected"]
    at_90 = next(point for point in sure.curve if point.threshold == 0.9)
    assert 0.4 < at_90.answered < 0.6  # it found half of them, and is sure of these now
    assert at_90.precision > 0.95


def test_what_cannot_be_put_right_is_not_shown():
    sure = asked(lambda found: np.where(found, 0.6, 0.4), n=60)
    assert (sure.attack, sure.curve) == (None, ())
    assert [note.code for note in sure.notes] == ["probabilities-off"]
    assert sure.notes[0]["off"] > 0.03
