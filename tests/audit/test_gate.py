"""The gate and the verdict: the strongest of all rows, ends that hold together, and nothing that weakens it unsaid."""

import dataclasses
import json
import sys
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from reidrisk import Traces, attacks, measure, populations, topics
from reidrisk.audit import AuditResult, AuditSpec, audit_traces, gate, together
from reidrisk.audit.choice import only, telling_epochs
from reidrisk.audit.truth_doubt import check_truth
from reidrisk.base.errors import OptionError
from reidrisk.base.notes import Note

BOTH = ("hamming", "weighted-hamming")


def two_good_weeks(n=600, n_tokens=110):
    """People who keep their tokens in the first two weeks, and six weeks that have nothing to do with them."""
    rng = np.random.default_rng(0)
    a, b = (rng.integers(0, n_tokens, (n, 8)) for _ in range(2))
    b[:, :2] = np.where(rng.random((n, 2)) < 0.97, a[:, :2], b[:, :2])
    return Traces(a, n_tokens), Traces(b, n_tokens)


def complete(found):
    """The same result, had the attacks that were asked for been all there are."""
    return dataclasses.replace(found, not_run=())


@pytest.fixture(scope="module")
def weeks():
    a, b = two_good_weeks()
    return complete(audit_traces(a, b, AuditSpec(seed=1, attacks=BOTH, max_risk=0.65)))


def test_it_is_undecided_where_a_default_attack_or_a_number_of_epochs_was_left_out(weeks):
    a, b = two_good_weeks()
    asked = audit_traces(a, b, AuditSpec(seed=1, attacks=BOTH))
    assert {one.why for one in asked.not_run} == {"not asked"}
    answer = gate(asked, 0.99)
    assert (answer.answer, answer.why) == ("undecided", "not run")
    assert "profile-bayes" in answer.not_run
    assert gate(asked, 0.65).answer == "fail"  # weak attacks only make the risk look lower
    assert (gate(weeks, 0.99).answer, gate(weeks, 0.99, ["hamming"]).answer) == ("pass", "pass")
    required = gate(weeks, 0.99, ["hamming", "markov"])
    assert (required.answer, required.why, required.required) == ("undecided", "required", ("markov",))
    with pytest.raises(OptionError, match="no attack called 'magic' to require"):
        gate(weeks, 0.99, ["magic"])
    one = complete(audit_traces(a, b, AuditSpec(seed=1, attacks=BOTH, epochs=(1, 8))))
    assert (gate(one, 0.999).answer, gate(one, 0.999).why) == ("undecided", "untried")


def test_a_pass_of_format_2_stands_unless_an_attack_was_left_out(weeks):
    values = dataclasses.replace(weeks, gate=gate(weeks, 0.99)).to_dict()
    values["spec"]["max_risk"] = 0.99
    values |= {"format": 2, "notes": [note for note in values["notes"] if note["code"] != "attack-not-run"]}
    for name in ("kind", "axis", "scenario", "also", "n_questions", "not_run"):
        del values[name]
    for name in ("not_run", "required", "n_questions"):
        del values["gate"][name]
    again = AuditResult.from_dict(values)
    assert (again.format, again.gate.answer, again.kind, again.axis) == (3, "pass", "traces", "epochs")
    values["notes"] = [*values["notes"], {"code": "attack-left-out", "attack": "profile-bayes"}]
    left = AuditResult.from_dict(values)
    assert (left.gate.answer, left.gate.why, left.missing) == ("undecided", "not run", ("profile-bayes",))
    assert AuditResult.from_dict(json.loads(left.to_json())).to_dict() == left.to_dict()


def test_whoever_holds_eight_weeks_can_use_two(weeks):
    """At eight epochs few are found, at two nearly everyone: verdict, gate, exposure and curve are about the two."""
    best = {r: max(risk.rate for risk in weeks.risks if risk.n_epochs == r) for r in (2, 8)}
    assert best[2] > 0.9
    assert best[8] < 0.65
    assert (weeks.strongest.n_epochs, weeks.strongest.rate) == (2, best[2])
    assert weeks.gate.answer == gate(weeks, 0.65).answer == "fail"
    assert gate(weeks, 0.85).answer == "fail"
    assert gate(weeks, 0.99).answer == "pass"
    assert weeks.choosy_epochs == 2
    assert weeks.exposure.above["50"] == pytest.approx(best[2], abs=0.05)


def test_the_ends_hold_for_the_strongest_of_all_rows(weeks):
    a, b = two_good_weeks()
    tried = {"Hamming": attacks.Hamming(), "WeightedHamming": attacks.WeightedHamming(2, 0.0)}
    assert len(weeks.risks) == len(weeks.lower_ends) == 8
    for risk, low in zip(weeks.risks, weeks.lower_ends, strict=True):
        r = risk.n_epochs
        again = measure.random_user(tried[risk.attack], a.epochs(r), b.epochs(r), level=1.0 - 0.05 / 8)
        assert low == pytest.approx(again.low, abs=1e-12)
        assert low < risk.low
    assert weeks.strongest.low == max(weeks.lower_ends)
    assert weeks.strongest.high == max(risk.high for risk in weeks.risks)


def test_it_passes_only_if_every_upper_end_is_within_and_fails_only_by_the_corrected_end(weeks):
    top = max(weeks.risks, key=lambda risk: risk.high)
    assert gate(weeks, top.high).answer == "pass"
    assert gate(weeks, np.nextafter(top.high, 0.0)).answer == "undecided"
    rows = [risk for risk in weeks.risks if risk.n_epochs == 2]
    between = (max(weeks.lower_ends) + max(risk.low for risk in rows)) / 2.0
    assert gate(weeks, between).answer == "undecided"  # one row alone, uncorrected, would fail it
    # A row that is not the highest may reach highest by its interval.
    other = next(i for i, risk in enumerate(weeks.risks) if risk.n_epochs == 1)
    wide = dataclasses.replace(weeks.risks[other], high=0.999)
    wider = dataclasses.replace(weeks, risks=(*weeks.risks[:other], wide, *weeks.risks[other + 1 :]))
    assert gate(wider, top.high).answer == "undecided"


def test_strangers_do_not_dilute_the_rate():
    """A fifth of a thousand people can be found; nine thousand who are in one table only change nothing of that."""
    rng = np.random.default_rng(1)
    a, b = (rng.integers(0, 3_000, (1_000, 4)) for _ in range(2))
    b[:200] = a[:200]
    alone = audit_traces(
        Traces(a, 3_000, np.arange(1_000)), Traces(b, 3_000, np.arange(1_000)), AuditSpec(seed=1, attacks=BOTH)
    )
    crowd = np.concatenate([b, rng.integers(0, 3_000, (9_000, 4))])
    found = audit_traces(
        Traces(a, 3_000, np.arange(1_000)), Traces(crowd, 3_000, np.arange(10_000)), AuditSpec(seed=1, attacks=BOTH)
    )
    assert found.strongest.rate == pytest.approx(0.2, abs=0.01)
    assert [risk.rate for risk in found.risks] == pytest.approx([risk.rate for risk in alone.risks])
    assert (found.n_scored, found.n_strangers, found.strongest.baseline) == (1_000, 9_000, 1 / 1_000)
    answer = gate(found, 0.05)
    assert (answer.answer, answer.strangers) == ("fail", 0.9)


@pytest.mark.parametrize("misaligned", [True, False])
def test_a_truth_that_calls_close_links_wrong_is_not_believed(misaligned):
    rng = np.random.default_rng(2)
    tokens = rng.integers(0, 300, (1_000, 4))
    seen = np.where(rng.random((1_000, 4)) < 0.7, tokens, rng.integers(0, 300, (1_000, 4)))
    truth = np.roll(np.arange(1_000), 1) if misaligned else np.arange(1_000)
    found = audit_traces(Traces(tokens, 300), Traces(seen, 300), AuditSpec(seed=1, attacks=BOTH), truth=truth)
    answer = gate(complete(found), 0.999)
    if misaligned:
        assert found.strongest.high < 0.02
        assert found.truth_doubt.low > 0.5
        assert (answer.answer, answer.why) == ("undecided", "doubt")
    else:
        assert found.truth_doubt is None
        assert answer.answer == "pass"


def kept(n, n_tokens, n_epochs, keep, zipf=0.0):
    """People who keep each token with one probability, and draw another one otherwise."""
    rng = np.random.default_rng(5)
    p = np.arange(1, n_tokens + 1) ** -zipf
    a, b = (rng.choice(n_tokens, (n, n_epochs), p=p / p.sum()) for _ in range(2))
    return Traces(a, n_tokens), Traces(np.where(rng.random(a.shape) < keep, a, b), n_tokens)


def on_two_sites(n=1_000, weeks=8):
    people = populations.published(n, epochs=weeks, seed=0)
    api = topics.TopicsAPI(n_topics=people.n_tokens, top_k=5, noise=0.05)
    return tuple(api.expose(people, seed=0, site=site) for site in "ab")


@pytest.mark.parametrize(
    "tables",
    [
        lambda: kept(200, 100_000, 1, 1.0),
        lambda: kept(1_000, 1_000, 1, 1.0),
        lambda: kept(3_000, 5_000, 1, 0.9),
        lambda: kept(1_000, 110, 2, 0.9),
        lambda: kept(200, 110, 4, 0.6),
        lambda: kept(1_000, 110, 4, 0.6, zipf=1.0),
        lambda: kept(1_000, 500, 8, 0.3, zipf=1.0),
        on_two_sites,
    ],
)
def test_a_truth_that_is_wrong_throughout_is_doubted(tables):
    a, b = tables()
    own, chosen = np.arange(len(a)), [attacks.Hamming(), attacks.WeightedHamming(5, 0.05)]
    choices = [tuple(range(r)) for r in (1, 2, 4, 8) if r <= a.n_epochs]
    answer, doubt = check_truth(chosen, choices, a, b, np.roll(own, 1), 1)
    assert answer == "doubt"
    assert doubt.n_close > 0
    assert check_truth(chosen, choices, a, b, own, 1) == ("passed", None)


@pytest.mark.parametrize(("n", "n_tokens", "epochs", "why"), [(18, 5_000, 4, "few"), (500, 5, 1, "within")])
def test_a_truth_that_cannot_be_checked_is_not_said_to_be_right(n, n_tokens, epochs, why):
    a, b = kept(n, n_tokens, epochs, 1.0)
    found = audit_traces(a, b, AuditSpec(seed=1, attacks=BOTH, max_risk=1.0))
    assert found.truth_check == found.gate.truth_check == "no power"
    assert "truth-not-checked" in [note.code for note in found.notes]
    assert gate(complete(found), 1.0).why == why  # a check without power decides nothing; the line says so


def test_too_few_scored_people_are_no_verdict_and_never_decide():
    """One of 2,795 people linked by two tables was 'about 100 in 100 (0.15 to 100)', and passed at a limit of 100 %."""
    tokens = np.arange(8).reshape(4, 2)
    few = complete(audit_traces(Traces(tokens, 9), Traces(tokens, 9), AuditSpec(seed=1, attacks=BOTH)))
    assert few.too_few
    assert "too few people to tell: only 4 people" in few.verdict
    assert {(gate(few, limit).answer, gate(few, limit).why) for limit in (0.0, 0.1, 1.0)} == {("undecided", "few")}
    assert "too few people were scored" in gate(few, 0.1).reading
    tokens = np.arange(80).reshape(40, 2)
    many = complete(audit_traces(Traces(tokens, 80), Traces(tokens, 80), AuditSpec(seed=1, attacks=BOTH)))
    assert (gate(many, 0.1).answer, gate(many, 1.0).answer) == ("fail", "pass")
    asked = [dataclasses.replace(one, n_questions=2) for one in (few, many)]
    both = together(asked)
    assert both.n_scored == 40  # what can be told leads
    assert (gate(both, 0.1).answer, gate(both, 1.0).why) == ("fail", "few")


@pytest.mark.parametrize("seed", range(5))
def test_unrelated_tables_do_not_cast_doubt_on_the_truth(seed):
    """People of a few types, whose second record has nothing to do with the first: found by nobody, and truly so."""
    rng = np.random.default_rng(seed)
    kinds = rng.dirichlet(np.full(100, 0.1), 20)
    a, b = (Traces(np.stack([rng.choice(100, 6, p=kinds[k]) for k in rng.integers(0, 20, 400)]), 100) for _ in range(2))
    found = audit_traces(a, b, AuditSpec(seed=seed, attacks=BOTH, epochs=(2, 6)))
    assert found.strongest.rate < 0.05
    assert found.truth_doubt is None


def test_the_gate_says_what_weakens_it(weeks):
    a, b = two_good_weeks()
    one = audit_traces(a, b, AuditSpec(seed=1, attacks=BOTH, epochs=(1,), level=0.8))
    answer = gate(one, 0.99)
    assert (answer.level, answer.epochs, answer.epochs_untried, answer.n_epochs_held) == (0.8, (1,), (2, 4, 8), 8)
    assert answer.truth == "rows"
    assert gate(weeks, 0.99).epochs_untried == ()
    for level in (0.0001, 0.5, 0.79, 1.0):
        with pytest.raises(OptionError, match="level"):
            AuditSpec(level=level)


def test_a_result_of_format_1_is_read_and_never_passes():
    values = json.loads((Path(__file__).parent / "format_1.json").read_text())
    assert values["gate"]["answer"] == "pass"
    old = AuditResult.from_dict(values)
    assert (old.format, old.upgraded_from, old.n_strangers) == (3, 1, None)
    assert all(low <= risk.low for low, risk in zip(old.lower_ends, old.risks, strict=True))
    answer = gate(old, 0.9)
    assert (answer.answer, answer.why) == ("undecided", "format")
    assert gate(old, 0.1).answer == "fail"
    assert gate(old, max(risk.low for risk in old.risks) - 0.001).answer == "undecided"  # not by uncorrected ends


def reliable(weeks, n=600, n_tokens=110, seed=0):
    """People who keep their tokens in these weeks of eight; the others have nothing to do with them."""
    rng = np.random.default_rng(seed)
    a, b = (rng.integers(0, n_tokens, (n, 8)) for _ in range(2))
    keep = rng.random((n, 8)) < np.where(np.isin(np.arange(8), weeks), 0.97, 0.0)
    return Traces(a, n_tokens), Traces(np.where(keep, a, b), n_tokens)


@pytest.mark.parametrize("weeks", [(0, 1), (6, 7), (2, 5)])
def test_an_attacker_uses_the_weeks_that_are_reliable_wherever_they_are(weeks):
    found = audit_traces(*reliable(weeks), AuditSpec(seed=1, attacks=BOTH, max_risk=0.65))
    assert found.strongest.rate > 0.85
    assert found.strongest.which == (() if weeks == (0, 1) else weeks)
    assert (found.gate.answer, found.gate.which) == ("fail", found.strongest.which)
    assert (found.choosy_epochs, found.exposure.above["50"] > 0.8) == (2, True)
    (note,) = (note for note in found.notes if note.code == "periods-compared")
    assert (list(weeks) in note["chosen"]) == (weeks != (0, 1))
    assert AuditResult.from_dict(json.loads(found.to_json())).to_dict() == found.to_dict()


def test_epochs_that_tell_the_same_cost_no_rows():
    a, b = on_two_sites(600, 4)
    found = audit_traces(a, b, AuditSpec(system="topics", seed=1, attacks=BOTH))
    assert all(not risk.which for risk in found.risks)
    assert len(found.risks) == 6
    assert Note("periods-compared", chosen=[]) in found.notes
    nobody = audit_traces(Traces(a.tokens, a.n_tokens), Traces(b.tokens[:500], a.n_tokens), AuditSpec(seed=1))
    assert (nobody.risks, "periods-compared" in [note.code for note in nobody.notes]) == ((), False)


def test_epochs_are_chosen_where_the_first_are_empty():
    a, b = reliable((6, 7))
    late = np.array(a.tokens)
    late[:, :4] = -1
    found = audit_traces(Traces(late, 110), b, AuditSpec(seed=1, attacks=BOTH))
    assert found.epochs_skipped == (1, 2, 4)
    assert (found.strongest.which, found.strongest.rate > 0.85) == ((6, 7), True)
    assert AuditResult.from_dict(json.loads(found.to_json())).strongest.which == (6, 7)


def test_choosing_epochs_by_the_truth_fails_no_tables_whose_epochs_are_alike(monkeypatch):
    """Even where the best of all choices by these very people is taken, a wrong fail has probability alpha at most."""
    n, runs, alpha, wrong = 150, 120, 0.2, 0

    def tables(rng, r):
        a = rng.integers(0, 30, (n, r))
        return Traces(a, 30), Traces(np.where(rng.random(a.shape) < 0.3, a, rng.integers(0, 30, a.shape)), 30)

    def rate(a, b, which):
        return measure.random_user(attacks.Hamming(), only(a, which), only(b, which)).rate

    def best_of_all(targets, queries, truth, counts):
        found = (max(combinations(range(4), r), key=lambda which: rate(targets, queries, which)) for r in counts)
        return tuple(which for which in found if which[-1] >= len(which))

    monkeypatch.setattr(sys.modules["reidrisk.audit.case"], "telling_epochs", best_of_all)
    monkeypatch.setattr(sys.modules["reidrisk.audit.case"], "check_truth", lambda *_: ("no power", None))
    rng = np.random.default_rng(1_000)
    limit = np.mean([rate(*tables(rng, 2), (0, 1)) for _ in range(200)])  # two epochs tell more than one
    chosen = 0
    for seed in range(runs):
        spec = AuditSpec(seed=seed, attacks=("hamming",), epochs=(1, 2), level=1 - alpha)
        found = audit_traces(*tables(np.random.default_rng(seed), 4), spec)
        chosen += bool(found.strongest.which)
        wrong += gate(found, limit).answer == "fail"
    assert chosen > runs / 2
    assert wrong <= alpha / 2 * runs


@pytest.mark.parametrize(
    ("tables", "shares"),
    [
        (lambda: kept(2_000, 110, 4, 0.6, zipf=1.0), (0.5, 0.7, 1.0)),
        (lambda: kept(600, 110, 2, 0.9), (0.5, 0.7, 1.0)),
        (on_two_sites, (0.7, 1.0)),
    ],
)
def test_a_truth_that_is_wrong_for_a_part_of_the_people_is_doubted_or_at_least_not_passed(tables, shares):
    a, b = tables()
    chosen, choices = [attacks.Hamming(), attacks.WeightedHamming(5, 0.05)], [(0, 1), tuple(range(a.n_epochs))]
    for share in (0.0, *shares):
        truth, rows = np.arange(len(a)), np.random.default_rng(3).permutation(len(a))[: int(share * len(a))]
        truth[rows] = np.roll(truth[rows], 1)
        answer, _ = check_truth(chosen, choices, a, b, truth, seed=1)
        assert answer == ("doubt" if share else "passed")


def test_tables_that_differ_do_not_cast_doubt_on_a_right_truth():
    """The second table holds far more common items than the first: queries come close, and not to themselves."""
    rng = np.random.default_rng(4)
    for n_epochs, keep in ((1, 0.2), (4, 0.0), (4, 0.3)):
        p = np.arange(1, 301) ** -1.5
        a, b = rng.integers(0, 300, (1_500, n_epochs)), rng.choice(300, (1_500, n_epochs), p=p / p.sum())
        b = np.where(rng.random(a.shape) < keep, a, b)
        found = audit_traces(Traces(a, 300), Traces(b, 300), AuditSpec(seed=1, attacks=BOTH))
        assert found.truth_doubt is None


def some_kept(seed, weeks, n_epochs, n_tokens, n=600):
    """People whose tokens are the same in these epochs; the others have nothing to do with them."""
    rng = np.random.default_rng(seed)
    a, b = (rng.integers(0, n_tokens, (n, n_epochs)) for _ in range(2))
    b[:, weeks] = a[:, weeks]
    return Traces(a, n_tokens), Traces(b, n_tokens)


@pytest.mark.parametrize("n_epochs", [5, 8, 16])
def test_no_epochs_tell_more_than_themselves(n_epochs):
    """Neither all epochs nor the first r are a choice, whatever rounding makes of their sums."""
    own, counts = np.arange(600), tuple(range(1, n_epochs + 1))
    for seed in range(20):
        weeks = np.flatnonzero(np.random.default_rng(seed).random(n_epochs) < 0.4)
        found = telling_epochs(*some_kept(seed, weeks, n_epochs, 4), own, counts)
        assert all(len(which) < n_epochs and which[-1] >= len(which) for which in found)


def test_the_gate_reads_what_an_audit_of_sixteen_epochs_wrote():
    for seed in range(4):
        weeks = np.flatnonzero(np.random.default_rng(seed).random(16) < 0.4)
        found = audit_traces(*some_kept(seed, weeks, 16, 4, n=200), AuditSpec(seed=1, attacks=("hamming",)))
        assert gate(AuditResult.from_dict(json.loads(found.to_json())), 0.5).rate == found.strongest.rate


@pytest.mark.parametrize(
    ("weeks", "n_epochs", "n_tokens", "limit"),
    [((5, 6, 7), 8, 10, 0.6), ((0, 1, 2), 8, 10, 0.6), ((2, 3, 4, 5, 6, 7), 16, 4, 0.75)],
)
def test_all_epochs_that_tell_more_than_a_guess_are_tried_together(weeks, n_epochs, n_tokens, limit):
    """Three or six reliable epochs are no power of two; with one less or one more, far fewer people are found."""
    found = audit_traces(*some_kept(0, list(weeks), n_epochs, n_tokens), AuditSpec(seed=1, attacks=BOTH))
    answer = gate(AuditResult.from_dict(json.loads(found.to_json())), limit)
    assert (answer.answer, answer.which) == ("fail", weeks)
    usual = max(risk.rate for risk in found.risks if risk.n_epochs != len(weeks))
    assert usual < found.strongest.rate - 0.2
    asked = audit_traces(
        *some_kept(0, list(weeks), n_epochs, n_tokens), AuditSpec(seed=1, attacks=("hamming",), epochs=(1, 2))
    )
    assert {risk.n_epochs for risk in asked.risks} == {1, 2}  # who asks for numbers of epochs has these only


def test_no_bound_stands_beside_epochs_for_which_it_does_not_hold():
    """Two good weeks at the end: what limits the first two, or four, does not limit whoever chooses the last two."""
    rng = np.random.default_rng(0)
    a, b = (rng.integers(0, 3, (600, 8)) for _ in range(2))
    a[:, 6:] = b[:, 6:] = rng.integers(0, 25, (600, 2))
    found = audit_traces(Traces(a, 25), Traces(b, 25), AuditSpec(seed=1, attacks=BOTH))
    assert found.strongest.which == (6, 7)
    assert {bound.n_epochs for bound in found.bounds} == {8}
    for bound in found.bounds:
        assert bound.value >= max(risk.rate for risk in found.risks if risk.n_epochs <= bound.n_epochs)


def test_known_records_nobody_asks_for_are_said():
    """Nine copies of each known record under other ids hide everybody; the gate cannot see that, and says how many."""
    rng = np.random.default_rng(0)
    a = rng.integers(0, 100, (200, 2))
    b = np.where(rng.random(a.shape) < 0.95, a, rng.integers(0, 100, a.shape))
    alone, crowd = (
        audit_traces(
            Traces(np.tile(a, (copies, 1)), 100, np.arange(200 * copies)),
            Traces(b, 100, np.arange(200)),
            AuditSpec(seed=1, attacks=BOTH, max_risk=0.3),
        )
        for copies in (1, 10)
    )
    assert (alone.gate.answer, alone.gate.unasked, alone.n_unasked) == ("fail", 0.0, 0)
    assert (gate(complete(crowd), 0.3).answer, crowd.gate.unasked, crowd.n_unasked) == ("pass", 0.9, 1_800)
    assert AuditResult.from_dict(json.loads(crowd.to_json())).gate.unasked == 0.9


@pytest.mark.parametrize(
    ("n", "n_epochs", "n_tokens", "share", "least"),
    [(100, 1, 500, 0.5, 8), (40, 2, 50, 0.5, 6), (30, 4, 50, 0.5, 8), (24, 4, 50, 0.7, 8)],
)
def test_few_people_half_of_whose_truth_is_wrong_do_not_pass(n, n_epochs, n_tokens, share, least):
    """Too few to be sure that truth is wrong; but what comes close is called wrong, so nobody should rely on it."""
    undecided = 0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        people = Traces(rng.integers(0, n_tokens, (n, n_epochs)), n_tokens)
        truth, rows = np.arange(n), rng.permutation(n)[: int(share * n)]
        right = audit_traces(people, people, AuditSpec(seed=1, attacks=BOTH), truth=truth)
        assert (right.truth_check, gate(complete(right), 1.0).answer) == ("passed", "pass")
        truth[rows] = truth[np.roll(rows, 1)]
        found = audit_traces(people, people, AuditSpec(seed=1, attacks=BOTH), truth=truth)
        again = AuditResult.from_dict(json.loads(found.to_json()))
        answer = gate(again, 1.0)
        undecided += (answer.answer, answer.why) == ("undecided", found.truth_check)
    assert undecided >= least


@pytest.mark.parametrize("seed", range(4))
def test_a_right_truth_of_few_people_is_not_suspected(seed):
    for n, keep in ((30, 0.6), (60, 0.3), (200, 0.3)):
        rng = np.random.default_rng(seed)
        a, b = (rng.integers(0, 50, (n, 4)) for _ in range(2))
        b = np.where(rng.random(a.shape) < keep, a, b)
        chosen = [attacks.Hamming(), attacks.WeightedHamming(2, 0.0)]
        answer, _ = check_truth(chosen, [(0, 1), (0, 1, 2, 3)], Traces(a, 50), Traces(b, 50), np.arange(n), 1)
        assert answer in ("passed", "no power")


def lasting_favourites(seed, n, n_tokens, epochs=8):
    """People who keep to six favourites of their own; each observer sees one of them per week, at random."""
    rng = np.random.default_rng(seed)
    favourites = rng.integers(0, n_tokens, (n, 6))
    seen = [np.take_along_axis(favourites, rng.integers(0, 6, (n, epochs)), axis=1) for _ in range(2)]
    return [Traces(tokens, n_tokens, np.arange(n)) for tokens in seen]


def test_the_default_audit_reports_what_a_simple_rival_finds_and_the_gate_fails_by_it():
    a, b = lasting_favourites(0, n=4_000, n_tokens=1_000)
    spec = AuditSpec(seed=1, epochs=(8,), sample=500, max_risk=0.6)
    plain = audit_traces(a, b, spec.model_copy(update={"attacks": ("hamming", "weighted-hamming")}))
    assert plain.strongest.high < 0.6  # week by week, most people seem safe
    assert (plain.gate.answer, plain.gate.why) == ("undecided", "not run")
    found = audit_traces(a, b, spec)
    rates = {risk.attack: risk.rate for risk in found.risks}
    assert {"ProfileBayes", "Markov", "NaiveBayes"} <= set(rates)
    assert rates["NaiveBayes"] > plain.strongest.rate + 0.2
    assert found.strongest.rate >= rates["NaiveBayes"]
    assert found.gate.answer == "fail"
