"""Systems by name: one that is registered is found wherever a system is chosen, and what it declares is known."""

import numpy as np
import pytest
from typer.testing import CliRunner

from reidrisk import Traces
from reidrisk.audit import AuditSpec, audit_traces
from reidrisk.base.errors import OptionError
from reidrisk.base.registry import Registry
from reidrisk.cli.app import app
from reidrisk.mechanisms import Mechanism, TopKNoise, register, registry


class LoudOnes(Mechanism):
    """Shows one of three tokens, or any token in four of ten answers."""

    @classmethod
    def known(cls, n_tokens, top_k=None, noise=None):
        return TopKNoise(top_k or 3, 0.4 if noise is None else noise, n_tokens)


@pytest.fixture
def added(monkeypatch):
    entries = Registry("a system")
    for one in registry():
        entries.add(one)
    monkeypatch.setitem(registry.__globals__, "_REGISTRY", entries)
    return register()(LoudOnes)


def test_what_is_declared_of_the_known_ones():
    assert AuditSpec(system="topics").mechanism(349) == TopKNoise(5, 0.05, 349)
    assert AuditSpec(system="topics", top_k=3, noise=0.0).mechanism(349) == TopKNoise(3, 0.0, 349)
    assert AuditSpec().mechanism(349) == TopKNoise(2, 0.0, 349, "nothing")
    assert AuditSpec(top_k=4, noise=0.1).mechanism(349) == TopKNoise(4, 0.1, 349, "set size")


def test_a_system_that_is_registered_can_be_chosen(added):
    assert "loud-ones" in CliRunner().invoke(app, ["audit", "--help"], env={"COLUMNS": "200"}).output
    with pytest.raises(OptionError, match=r"system must be one of other, topics, loud-ones, not 'quiet-ones'"):
        AuditSpec(system="quiet-ones")
    spec = AuditSpec(system="loud-ones", seed=0, attacks=("hamming",))
    assert AuditSpec.from_dict(spec.to_dict()) == spec
    rng = np.random.default_rng(0)
    tokens = [rng.integers(0, 9, (40, 2)) for _ in range(2)]
    result = audit_traces(*(Traces(one, 9) for one in tokens), spec)
    note = next(note for note in result.notes if note.code == "system-declared")
    assert (note["system"], note["top_k"], note["noise"]) == ("LoudOnes", 3, 0.4)


def test_without_it_there_is_no_such_system():
    with pytest.raises(OptionError, match=r"system must be one of other, topics, not 'loud-ones'"):
        AuditSpec(system="loud-ones")
