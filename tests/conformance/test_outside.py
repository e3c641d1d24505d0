"""Packages whose pinned versions clash with ours, asked in an environment of their own (`make conformance`)."""

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

from reidrisk import Traces, attacks, cohorts, measure

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
