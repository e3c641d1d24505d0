"""Two audits are compared, unpaired, and only if they can be of the same people."""

from dataclasses import replace

import numpy as np
import pytest

from reidrisk import Traces
from reidrisk.audit import AuditSpec, audit_case, compare
from reidrisk.base.errors import DataError, OptionError
from reidrisk.mitigations import Draw
from reidrisk.records import Case, Truth

N = 150


@pytest.fixture(scope="module")
def audits():
    rng = np.random.default_rng(0)
    table = Traces(rng.integers(6, size=(N, 4)), n_tokens=6)
    case = Case(table, table, Truth(np.arange(N), "rows"))
    spec = AuditSpec(seed=1, attacks=("hamming",))
    return audit_case(case, spec), audit_case(Draw(0.3).apply(case), spec)


def test_the_difference_has_an_interval_from_both_rates(audits):
    found = compare(*audits)
    before, after = (one.strongest for one in audits)
    assert found.difference == pytest.approx(before.rate - after.rate)
    wide = np.hypot(before.rate - before.low, after.high - after.rate)
    assert found.low == pytest.approx(found.difference - wide)
    assert found.low > 0.0
    assert not found.paired


def test_an_audit_beside_itself_has_no_difference(audits):
    found = compare(audits[0], audits[0])
    assert found.difference == 0.0
    assert found.low <= 0.0 <= found.high


def test_audits_of_other_people_are_refused(audits):
    before, after = audits
    with pytest.raises(OptionError, match="different numbers of known records, 150 and 151"):
        compare(before, replace(after, n_targets=151))
    with pytest.raises(OptionError, match="different kinds of records"):
        compare(before, replace(after, kind="bags"))
    with pytest.raises(DataError, match="the second audit has no rate"):
        compare(before, replace(after, risks=(), lower_ends=()))
