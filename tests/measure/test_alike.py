"""Records that hold the same are asked once, and answered alike."""

import numpy as np

from reidrisk import attacks, measure
from reidrisk.measure.alike import distinct
from reidrisk.measure.risk import linked
from reidrisk.records import Attributes, Bags, Traces


def people(n=400, seed=0):
    rng = np.random.default_rng(seed)
    return Attributes(
        {"age": rng.integers(20, 30, n), "sex": rng.integers(0, 2, n).astype(str), "town": rng.integers(0, 9, n)}
    )


def test_links_of_equal_rows_are_those_of_each():
    known, asked = people(), people(seed=1)
    known, asked = Attributes.together(known, asked)
    for attack in (attacks.Hamming(), attacks.TfIdf(), attacks.FellegiSunter()):
        each = attack.fit(known).look_around(asked).link(asked, probability=True)
        once = linked(attack.fit(known), asked, None, probability=True)
        for name in ("target", "score", "n_ties", "probability"):
            assert np.array_equal(getattr(each, name), getattr(once, name)), (attack.name, name)


def test_kinds_are_told_apart_by_every_cell():
    first, kind = distinct(Traces([[1, 2, -1], [1, 2, 0], [1, 2, -1], [2, 1, -1]], n_tokens=3))
    assert first[kind].tolist() == [0, 1, 0, 3]
    assert distinct(Bags([[1], [1]]))[0].tolist() == [0, 1]


def test_the_rate_without_each_person_does_not_depend_on_asking_once(monkeypatch):
    table = people(200)
    found = measure.random_user(attacks.Hamming(), table, table, np.arange(200))
    monkeypatch.setattr("reidrisk.measure.jackknife.distinct", lambda records, attack: (np.arange(len(records)),) * 2)
    assert np.array_equal(
        found.rates_without, measure.random_user(attacks.Hamming(), table, table, np.arange(200)).rates_without
    )
