"""Packages whose pinned versions clash with ours, asked in an environment of their own (`make conformance`)."""

import json
import os
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

from reidrisk import Traces, attacks, cohorts, measure
from reidrisk.records import Attributes

OUTSIDE = os.environ.get("REIDRISK_OUTSIDE")
pytestmark = [
    pytest.mark.conformance,
    pytest.mark.skipif(not OUTSIDE, reason="these packages pin other versions; run make conformance"),
]


def asked(of: str, **question):
    script = Path(__file__).parent / "outside" / "answers.py"
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [OUTSIDE, str(script)],
        input=json.dumps({"of": of, **question}),
        env=clean,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize(("n_tokens", "n_epochs"), [(4, 3), (12, 6)])
def test_the_nearest_record_of_anonymeter_is_the_link_of_hamming(n_tokens, n_epochs):
    rng = np.random.default_rng(n_tokens)
    targets = rng.integers(n_tokens, size=(80, n_epochs))
    queries = np.where(rng.random(targets.shape) < 0.5, targets, rng.integers(n_tokens, size=targets.shape))
    words = [[[f"t{token}" for token in row] for row in table.tolist()] for table in (targets, queries)]
    distances = np.array(asked("nearest", targets=words[0], queries=words[1]))
    nearest = distances == distances.min(axis=1, keepdims=True)
    expected = (np.diagonal(nearest) / nearest.sum(axis=1)).mean()
    risk = measure.random_user(attacks.Hamming(), Traces(targets, n_tokens), Traces(queries, n_tokens), seed=0)
    assert 0.05 < expected < 0.95
    assert risk.rate == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_k_and_t_of_cohorts_are_those_of_pycanon(seed):
    rng = np.random.default_rng(seed)
    assignment = rng.integers(8, size=300)
    visited = (rng.random((300, 4)) < rng.random(4)).astype(int)
    found = cohorts.closeness(cohorts.count_visits(assignment, visited))
    answer = asked("closeness", cohorts=assignment.tolist(), visited=visited.tolist())
    assert answer["k"] == found.k == cohorts.k_anonymity(assignment)
    assert answer["t"] == pytest.approx(found.worst, abs=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_equivalence_classes_are_those_of_pycanon(seed):
    rng = np.random.default_rng(seed)
    rows = [[f"v{value}" for value in row] for row in rng.integers(3, size=(200, 4)).tolist()]
    columns = ["w", "x", "y", "z"]
    answer = asked("classes", rows=rows, columns=columns)
    found = measure.classes(Attributes({name: [row[i] for row in rows] for i, name in enumerate(columns)}))
    assert (found.k, found.n_classes, found.n) == (answer["k"], answer["classes"], answer["n"])
    assert found.mean == answer["classes"] / answer["n"]


@pytest.mark.data
def test_classes_of_the_census_are_those_of_pycanon_and_quick(study_file):
    path = study_file("adult_census/adult.data.gz")
    columns = ["age", "workclass", "education", "marital_status", "occupation", "race", "sex", "native_country"]
    answer = asked("classes", path=str(path), columns=columns)
    import polars as pl

    began = time.perf_counter()
    frame = pl.read_csv(path).drop_nulls("age")
    found = measure.classes(Attributes(frame, columns=columns))
    assert time.perf_counter() - began < 10
    assert (found.k, found.n_classes, found.n) == (answer["k"], answer["classes"], answer["n"])
    assert found.mean == answer["classes"] / answer["n"]


@pytest.fixture(scope="module")
def two_tables():
    rng = np.random.default_rng(0)
    known = {name: rng.integers(0, n, 400) for name, n in zip("abcdef", (12, 30, 5, 50, 20, 40), strict=True)}
    later = {}
    for name, values in known.items():
        later[name] = np.where(rng.random(400) < 0.1, rng.permutation(values), values)
    return [{name: [f"v{value}" for value in column] for name, column in table.items()} for table in (known, later)]


@pytest.mark.parametrize(
    ("who", "options", "by_value"),
    [
        ("agreement_by_recordlinkage", {}, False),
        ("agreement_by_splink", {"rare": False}, False),
        ("agreement_by_splink", {"rare": True}, True),
    ],
)
def test_agreement_is_weighed_as_by_packages_for_record_linkage(two_tables, who, options, by_value):
    """The packages take all pairs for independent, so that m differs a little; recordlinkage also learns u."""
    answer = asked(who, known=two_tables[0], asked=two_tables[1], **options)
    known, later = Attributes.together(*(Attributes(table) for table in two_tables))
    attack = attacks.FellegiSunter(by_value).fit(known).look_around(later)
    for name in known.names:
        assert attack.m_[name][0] == pytest.approx(answer["m"][name], abs=0.03)
        assert attack.u_[name][0] == pytest.approx(answer["u"][name], abs=0.015)
    links = attack.link(later)
    alone = links.n_ties == 1
    assert alone.mean() > 0.9
    assert np.mean(links.target[alone] == np.array(answer["links"])[alone]) > 0.98
