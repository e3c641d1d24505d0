"""Two audits are compared, paired where that was kept, and only if they can be of the same people."""

from dataclasses import replace

import numpy as np
import pytest

from reidrisk import Traces
from reidrisk.audit import AuditResult, AuditSpec, PerPerson, audit_case, compare
from reidrisk.base.errors import DataError, FormatError, OptionError
from reidrisk.base.intervals import difference_interval
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


def test_what_was_kept_per_person_pairs_the_audits(audits):
    before, after = audits
    kept = tuple(one.per_person() for one in audits)
    found = compare(before, after, kept)
    assert (found.paired, found.n_people) == (True, N)
    assert found.difference == pytest.approx(before.strongest.rate - after.strongest.rate)
    gap = np.asarray(kept[0].found) - np.asarray(kept[1].found)
    assert (found.low, found.high) == pytest.approx(difference_interval(kept[0].found, kept[1].found))
    assert found.low <= gap.mean() <= found.high
    unpaired = compare(before, after)
    assert found.high - found.low < unpaired.high - unpaired.low
    assert PerPerson.from_json(kept[0].to_json()) == kept[0]


def test_a_person_with_several_records_counts_once():
    rng = np.random.default_rng(1)
    known = Traces(rng.integers(9, size=(60, 4)), n_tokens=9, users=[f"p{i}" for i in range(60)])
    own = np.repeat(np.arange(60), 2)
    case = Case(known, known.take(own[: len(own) : 2]), Truth(np.arange(60), "given"))
    twice = Case(known, Traces(known.tokens[own], 9), Truth(own, "given"))
    spec = AuditSpec(seed=1, attacks=("hamming",))
    one, two = (audit_case(each, spec) for each in (case, twice))
    kept = two.per_person()
    assert kept.people == one.per_person().people == tuple(known.users.to_pylist())
    assert kept.found == pytest.approx(one.per_person().found)


def test_a_result_that_was_read_again_tells_of_nobody(audits):
    again = AuditResult.from_json(audits[0].to_json())
    with pytest.raises(DataError, match="nothing about single people is kept"):
        again.per_person()
    assert "people" not in audits[0].to_dict()
    assert "scored" not in audits[0].to_dict()


def test_what_was_kept_of_others_or_of_another_audit_is_refused(audits):
    before, after = audits
    one, two = (audit.per_person() for audit in audits)
    others = replace(two, people=tuple(f"x{i}" for i in range(N)))
    with pytest.raises(OptionError, match="0 of 150 and 150 people are in both audits") as error:
        compare(before, after, (one, others))
    assert "\n" not in str(error.value)
    with pytest.raises(OptionError, match="not of the second audit"):
        compare(before, after, (one, one))
    with pytest.raises(FormatError, match="one number for each of different people"):
        replace(one, found=one.found[:-1])
    with pytest.raises(FormatError, match="no probability"):
        replace(one, found=(2.0, *one.found[1:]))


def test_audits_of_other_people_are_refused(audits):
    before, after = audits
    with pytest.raises(OptionError, match="different numbers of known records, 150 and 151"):
        compare(before, replace(after, n_targets=151))
    with pytest.raises(OptionError, match="different kinds of records"):
        compare(before, replace(after, kind="bags"))
    with pytest.raises(DataError, match="the second audit has no rate"):
        compare(before, replace(after, risks=(), lower_ends=()))
