import json
import sys
from pathlib import Path

import numpy as np
import pytest

from reidrisk import Traces, attacks, io, measure, populations, search, topics
from reidrisk.audit import AuditResult, AuditSpec, InMemory, Published, Tables, asking, audit_traces, gate, plan, run
from reidrisk.audit.axis import axis_of
from reidrisk.audit.run import log_of, traces_of
from reidrisk.base.errors import DataError, FormatError, OptionError, TruthError
from reidrisk.base.notes import Note
from reidrisk.records import Case, Truth

TABLES = InMemory()


def codes(result):
    return [note.code for note in result.notes]


QUICK = {"Hamming", "WeightedHamming", "BM25", "Hellinger", "NaiveBayes", "TfIdf"}


def traces(seed=0, n=200, r=5, n_tokens=6, named=True):
    rng = np.random.default_rng(seed)
    targets = rng.integers(0, n_tokens, (n, r))
    queries = np.where(rng.random((n, r)) < 0.5, targets, rng.integers(0, n_tokens, (n, r)))
    users = [f"u{i}" for i in range(n)] if named else None
    return Traces(targets, n_tokens, users), Traces(queries, n_tokens, users)


def test_a_result_says_what_its_intervals_cover_and_an_older_one_promises_less():
    a, b = traces()
    for sample, covers in ((None, "people"), (30, "queries")):
        result = audit_traces(a, b, AuditSpec(seed=1, sample=sample, attacks=("hamming", "weighted-hamming")))
        saved = json.loads(json.dumps(result.to_dict()))
        assert [risk.covers for risk in AuditResult.from_dict(saved).risks] == [covers] * len(result.risks)
        assert [gap.covers for gap in result.differences] == [covers] * len(result.differences)
        del saved["risks"][0]["covers"]
        with pytest.raises(FormatError, match=r"risks\[0\] has no covers"):
            AuditResult.from_dict(saved)
    older = AuditResult.from_dict(json.loads((Path(__file__).parent / "format_1.json").read_text()))
    assert {one.covers for one in (*older.risks, *older.differences)} == {"queries"}


def test_a_result_round_trips_and_holds_nothing_about_single_people():
    a, b = traces()
    result = audit_traces(a, b, AuditSpec(inputs=TABLES, seed=1, max_risk=0.1))
    text = json.dumps(result.to_dict())
    assert AuditResult.from_dict(json.loads(text)).to_dict() == result.to_dict()
    assert "per_user" not in text
    assert not any(f'"u{i}"' in text for i in range(200))
    assert result.gate.answer == "fail"


def test_default_numbers_of_epochs_are_powers_of_two_and_all():
    a, b = traces()
    result = audit_traces(a, b, AuditSpec(inputs=TABLES, seed=1))
    assert sorted({risk.n_epochs for risk in result.risks}) == [1, 2, 4, 5]
    chosen = audit_traces(a, b, AuditSpec(inputs=TABLES, seed=1, epochs=(3, 1, 3)))
    assert sorted({risk.n_epochs for risk in chosen.risks}) == [1, 3]


def test_attacks_are_measured_on_the_same_queries():
    a, b = traces()
    result = audit_traces(a, b, AuditSpec(inputs=TABLES, seed=1, sample=50))
    assert {risk.n_queries for risk in result.risks} == {50}
    assert result.n_scored == 50
    assert all(gap.low <= gap.difference <= gap.high for gap in result.differences)
    assert len(result.differences) == 4 * (len(result.descriptions) - 1)


def test_the_attack_that_learns_lasting_interests_is_ahead_when_asked_for_and_named_when_not():
    inputs = Published(users=2_000, epochs=8)
    names = ("weighted-hamming", "profile-bayes")
    result = run(AuditSpec(inputs=inputs, system="topics", epochs=(8,), attacks=names, seed=2))
    assert result.differences[0].attack == "ProfileBayes"
    assert result.differences[0].low > 0.05
    assert result.choosy_attack == "ProfileBayes"
    without = run(AuditSpec(inputs=inputs, system="topics", epochs=(8,), attacks=names[:1], seed=2))
    assert Note("attack-not-run", attack="profile-bayes", why="not asked") in without.notes
    assert "profile-bayes" in without.missing
    assert "profile-bayes" not in result.missing


def test_all_attacks_run_by_default_on_small_tables_and_large_ones_say_what_did_not():
    a, b = traces()
    small = audit_traces(a, b, AuditSpec(seed=1))
    assert set(small.descriptions) == {"ProfileBayes", "Markov", *QUICK}
    # So that it runs again as it was.
    assert small.spec["attacks"] == [
        one.name for one in attacks.registry() if one.attack.__name__ in small.descriptions
    ]
    one = audit_traces(a.epochs(1), b.epochs(1), AuditSpec(seed=1))
    assert set(one.descriptions) == QUICK
    assert (small.not_run, one.not_run) == ((), ())


def plan_of(spec, people, n_tokens=2):
    case = Case(people, people, Truth(np.arange(len(people)), "given"))
    return plan.planned(spec, case, axis_of(case, spec, None), spec.budget)


def test_every_default_attack_runs_within_the_budget_by_asking_about_fewer_people():
    big = Traces(np.random.default_rng(0).integers(0, 50, (20_000, 8)), 50)
    names = {one.name for one in plan.applicable(Case(big, big, None))}
    assert "profile-bayes" in names
    found = plan_of(AuditSpec(seed=1, budget=10.0), big)
    assert (set(found.names), found.not_run) == (names, ())
    assert 300 <= found.sample < 20_000
    more = plan_of(AuditSpec(seed=1, budget=600.0), big)
    assert found.sample < (more.sample or 20_000)
    short = plan_of(AuditSpec(seed=1, budget=0.2), big)
    assert [one.why for one in short.not_run] == ["time"] * len(short.not_run)
    assert short.not_run[0].attack == "profile-bayes"
    assert short.not_run[0].seconds > 0.1
    assert short.sample >= 300
    # The spec that is saved names what ran; run again, it is still time that was short, and nobody's choice.
    again = plan_of(AuditSpec(seed=1, budget=0.2, attacks=short.names, sample=short.sample), big)
    assert (again.names, again.sample) == (short.names, short.sample)
    assert [one.to_dict() for one in again.not_run] == [one.to_dict() for one in short.not_run]
    chosen = plan_of(AuditSpec(seed=1, budget=0.2, attacks=(short.not_run[-1].attack,), sample=short.sample), big)
    assert {one.why for one in chosen.not_run} == {"not asked"}
    few = plan_of(AuditSpec(seed=1, sample=299), big)
    assert {(one.attack, one.why) for one in few.not_run} == {(name, "few people") for name in names}
    assert plan_of(AuditSpec(seed=1, attacks=("profile-bayes",)), big).names == ("profile-bayes",)
    assert plan_of(AuditSpec(seed=1, everyone=True), big).sample is None
    assert plan_of(AuditSpec(seed=1, sample=250), big.take(np.arange(250))).not_run == ()


@pytest.mark.parametrize("system", ["topics", "other"])
@pytest.mark.parametrize("seed", range(6))
def test_the_default_audit_takes_tables_of_any_shape(system, seed):
    rng = np.random.default_rng(seed)
    n, r, n_tokens = rng.integers(2, 7), rng.integers(2, 4), rng.integers(5, 9)
    tables = [np.where(rng.random((n, r)) < 0.1 * seed, -1, rng.integers(0, n_tokens, (n, r))) for _ in range(2)]
    for tokens in tables:
        tokens[0, :2] = 1  # nobody saw nothing
    result = audit_traces(*(Traces(tokens, n_tokens) for tokens in tables), AuditSpec(system=system, seed=1))
    gaps = all(len(np.unique(tokens >= 0, axis=0)) > 1 for tokens in tables)
    assert {risk.attack for risk in result.risks} == {"ProfileBayes", "Markov", *QUICK, *["Presence"] * gaps}
    same = [Traces(np.zeros((5, 3), dtype=int), n_tokens) for _ in range(2)]
    assert audit_traces(*same, AuditSpec(system=system, seed=1)).strongest.rate == pytest.approx(0.2)


def test_a_model_that_an_attack_exceeds_is_called_out():
    rng = np.random.default_rng(0)
    rates = rng.gamma(0.1, 20.0, size=(300, 60)) * (rng.random((300, 60)) < 0.3)
    api = topics.TopicsAPI(n_topics=60)
    sets = api.top_sets(populations.real(rates), epochs=12, seed=0)
    a, b = (api.expose(sets, seed=0, site=site) for site in ("a", "b"))
    spec = AuditSpec(inputs=TABLES, system="topics", seed=1, epochs=(12,), attacks=("profile-bayes",))
    result = audit_traces(a, b, spec)
    model = next(bound for bound in result.bounds if bound.within_model)
    assert result.risks[0].low > model.high
    (said,) = (note for note in result.notes if note.code == "model-exceeded")
    assert (said["attack"], said["bound"], said["n_epochs"]) == ("ProfileBayes", "partial information", 12)


def test_epochs_without_any_token_are_left_out_and_named():
    a, b = traces()
    late = np.array(a.tokens)
    late[:, :2] = -1
    result = audit_traces(Traces(late, 6, a.users), b, AuditSpec(inputs=TABLES, seed=1))
    assert sorted({risk.n_epochs for risk in result.risks if not risk.which}) == [4, 5]
    assert all(min(risk.which) >= 2 for risk in result.risks if risk.which and risk.n_epochs < 4)
    assert Note("periods-without-items", skipped=[1, 2]) in result.notes
    with pytest.raises(DataError, match=r"known records hold no token in the first 2 epochs.*epochs="):
        audit_traces(Traces(late, 6, a.users), b, AuditSpec(inputs=TABLES, seed=1, epochs=(2,)))


def test_the_strongest_attack_is_the_one_with_the_highest_rate_of_all_rows():
    a, b = traces()
    result = audit_traces(a, b, AuditSpec(inputs=TABLES, seed=1))
    assert result.strongest.rate == max(risk.rate for risk in result.risks)


def test_unnamed_tables_of_different_length_have_no_truth():
    a, _ = traces(named=False)
    _, b = traces(seed=1, n=150, named=False)
    result = audit_traces(a, b, AuditSpec(inputs=TABLES, seed=1))
    assert result.risks == ()
    assert result.exposure is None
    assert result.choosiness == ()  # of chance agreements no probability is confirmed
    assert codes(result)[0] == "no-truth"
    with pytest.raises(TruthError, match="measured no rate"):
        gate(result, 0.1)


def test_only_plain_hamming_and_no_truth_says_that_nothing_can_be_said():
    a, _ = traces(named=False)
    _, b = traces(seed=1, n=150, named=False)
    result = audit_traces(a, b, AuditSpec(inputs=TABLES, seed=1, attacks=("hamming",)))
    assert (result.rehearsals, result.choosiness) == ((), ())


@pytest.mark.parametrize("truth", [True, False])
def test_the_order_in_which_attacks_are_named_changes_nothing(truth):
    a, b = traces(named=False)
    if not truth:
        b = b.take(np.arange(150))
    names = ("profile-bayes", "hamming", "weighted-hamming")
    found = []
    for order in (names, names[::-1]):
        values = audit_traces(a, b, AuditSpec(inputs=TABLES, seed=1, attacks=order)).to_dict()
        found.append({k: v for k, v in values.items() if k != "spec"})
    assert found[0] == found[1]
    if truth:
        assert found[0]["choosy_attack"] in ("WeightedHamming", "ProfileBayes")
    else:
        assert [check["attack"] for check in found[0]["rehearsals"]] == ["WeightedHamming", "ProfileBayes"]


def test_the_strongest_measured_attack_is_asked_how_sure_it_is():
    a, b = traces()
    for names in (("profile-bayes", "weighted-hamming"), ("weighted-hamming", "profile-bayes", "hamming")):
        result = audit_traces(a, b, AuditSpec(inputs=TABLES, seed=1, attacks=names))
        rates = {risk.attack: risk.rate for risk in result.risks if risk.n_epochs == 5 and risk.attack != "Hamming"}
        assert result.choosy_attack == max(rates, key=rates.get)


def test_rows_in_the_same_order_are_assumed_once(tmp_path):
    a, b = traces(named=False)
    for name, table in (("a.csv", a), ("b.csv", b)):
        io.write_traces(table, tmp_path / name)
    inputs = Tables(targets=str(tmp_path / "a.csv"), queries=str(tmp_path / "b.csv"), n_tokens=6)
    result = run(AuditSpec(inputs=inputs, seed=1))
    assert result.truth == "rows"
    assert "rows-are-people" not in codes(result)


def test_without_truth_records_are_counted_and_a_few_hidden():
    """Everybody holds one token that nobody else does, every week: halves of a record agree, and strangers never do."""
    tokens = np.repeat(np.arange(300)[:, None], 4, axis=1)
    a, b = Traces(tokens, 300), Traces(tokens[:250], 300)
    sure = audit_traces(a, b, AuditSpec(seed=1, attacks=("weighted-hamming",)))
    assert {point.threshold: point.answered for point in sure.choosiness}[0.9] == 1.0
    assert sure.choosy_attack == "WeightedHamming"
    nobody, asked = Traces(np.zeros((100, 4), dtype=int), 2), Traces(np.zeros((90, 4), dtype=int), 2)
    assert audit_traces(nobody, asked, AuditSpec(seed=1)).choosiness == ()
    few = audit_traces(a.take(np.arange(15)), b.take(np.arange(10)), AuditSpec(seed=1))
    assert few.rehearsals
    assert not any(rehearsal.points for rehearsal in few.rehearsals)


def test_the_gate_names_people_epochs_and_attacks_and_what_could_decide():
    found = run(AuditSpec(inputs=Published(users=300, epochs=2), system="topics", seed=1, max_risk=0.0))
    assert (found.gate.simulated, found.gate.n_targets, found.gate.n_scored) == (True, 300, 300)
    assert gate(found, 0.0) == found.gate
    a, b = traces()
    result = audit_traces(a, b, AuditSpec(seed=1, attacks=("hamming", "weighted-hamming")))
    answer = gate(result, result.strongest.rate)
    assert answer.answer == "undecided"
    assert (answer.why, answer.everyone) == ("straddles", True)
    assert (answer.n_targets, answer.attacks) == (200, ("Hamming", "WeightedHamming"))
    sampled = audit_traces(a, b, AuditSpec(seed=1, sample=100))
    assert not gate(sampled, sampled.strongest.rate).everyone


class Rarest(attacks.PositionalAttack):
    """An attack from outside the package: agreement on the rarer half of tokens."""

    @property
    def description(self):
        return "Counts agreements on rare tokens."

    def _weights(self, targets):
        counts = np.bincount(targets.tokens.ravel(), minlength=targets.n_tokens)
        match = (counts <= np.median(counts)).astype(np.int64)[np.newaxis]
        return search.Weights(match=match, mismatch=np.zeros_like(match), per_nat=0)


def test_attacks_of_ones_own_are_audited_like_the_others():
    a, b = traces()
    own = [Rarest(), attacks.StrictSets(threshold=2)]
    result = audit_traces(a, b, AuditSpec(seed=1, sample=60, attacks=("hamming",)), attacks=own)
    assert list(result.descriptions) == ["Hamming", "Rarest", "StrictSets"]
    for attack in own:
        alone = measure.random_user(attack, a, b, sample=60, seed=1)
        found = next(risk for risk in result.risks if risk.attack == attack.name and risk.n_epochs == 5)
        assert (found.rate, found.abstained) == (alone.rate, alone.abstained)
    assert result.spec["attacks"] == ["hamming"]
    assert Note("own-attacks", names=["Rarest", "StrictSets"]) in result.notes
    assert gate(result, 0.5).attacks == ("Hamming", "Rarest", "StrictSets")
    alone = audit_traces(a, b, AuditSpec(seed=1, attacks=()), attacks=[Rarest()])
    assert {risk.attack for risk in alone.risks} == {"Rarest"}


def test_attacks_that_cannot_be_are_refused_in_one_line():
    a, b = traces()
    with pytest.raises(OptionError, match="two attacks called Hamming"):
        audit_traces(a, b, AuditSpec(seed=1), attacks=[attacks.Hamming()])
    with pytest.raises(OptionError, match="attacks are objects such as"):
        audit_traces(a, b, AuditSpec(seed=1), attacks=["hamming"])
    with pytest.raises(ValueError, match=r"Rarest is an object; hand it over with"):
        AuditSpec(attacks=(Rarest(),))


def test_a_seed_is_drawn_and_recorded():
    a, b = traces()
    one = audit_traces(a, b, AuditSpec(inputs=TABLES, sample=50))
    two = audit_traces(a, b, AuditSpec(inputs=TABLES, sample=50, seed=one.seed))
    assert [risk.rate for risk in one.risks] == [risk.rate for risk in two.risks]
    assert one.spec["seed"] == one.seed


def test_gaps_are_reported():
    a, b = traces()
    tokens = a.tokens.copy()
    tokens[:20, 0] = -1
    result = audit_traces(Traces(tokens, 6, a.users), b, AuditSpec(inputs=TABLES, seed=1))
    assert Note("gaps", targets=0.02, queries=0.0) in result.notes


def test_progress_grows_to_one():
    told = []
    run(
        AuditSpec(inputs=Published(users=300, epochs=2), system="topics", seed=0),
        lambda stage, share: told.append(share),
    )
    assert told == sorted(told)
    assert told[-1] == 1.0
    assert max(told[:-1]) < 1.0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"epochs": (9,)}, "have 5 epochs; cannot look at the first 9"),
        ({"sample": 5, "everyone": True}, "not both"),
        ({"attacks": ()}, "choose at least one attack"),
        ({"top_k": 9}, "top_k must be a whole number from 1 to the 6"),
    ],
)
def test_options_that_cannot_be_are_refused(options, message):
    a, b = traces()
    with pytest.raises(OptionError, match=message):
        audit_traces(a, b, AuditSpec(inputs=TABLES, seed=1, **options))


def test_the_published_population_has_sets_of_five():
    with pytest.raises(OptionError, match="holds 5 topics per week, not 4"):
        run(AuditSpec(inputs=Published(users=100, epochs=1), system="topics", top_k=4))


def test_how_sure_the_attack_is_was_measured_on_a_random_part_and_at_the_same_epochs(monkeypatch):
    """A table sorted by who can be linked: the first rows alone would say something else."""
    monkeypatch.setattr(sys.modules["reidrisk.audit.case"], "_SURE", 400)
    rng = np.random.default_rng(0)
    targets = rng.integers(0, 400, (2_000, 3))
    queries = np.where(np.arange(2_000)[:, None] < 1_000, targets, rng.integers(0, 400, (2_000, 3)))
    result = audit_traces(Traces(targets, 400), Traces(queries, 400), AuditSpec(seed=1, everyone=True, epochs=(1, 2)))
    assert result.n_choosy == 400
    first = result.choosiness[0]
    assert first.low <= result.strongest.rate <= first.high


def test_a_large_vocabulary_leaves_the_model_out():
    rng = np.random.default_rng(0)
    a = Traces(rng.integers(0, 60_000, (300, 2)), 60_000)
    result = audit_traces(a, a, AuditSpec(seed=1, system="topics"))
    assert not any(bound.within_model for bound in result.bounds)
    assert result.bounds


def test_few_people_in_one_table_only_are_not_counted(tmp_path):
    rng = np.random.default_rng(0)
    tokens = rng.integers(0, 50, (60, 3))
    io.write_traces(Traces(tokens[:50], n_tokens=50, users=np.arange(50)), tmp_path / "a.parquet")
    io.write_traces(Traces(tokens[7:60], n_tokens=50, users=np.arange(7, 60)), tmp_path / "b.parquet")
    inputs = Tables(targets=str(tmp_path / "a.parquet"), queries=str(tmp_path / "b.parquet"))
    for least, told in ((20, None), (1, 7)):
        found = run(AuditSpec(inputs=inputs, allow_unmatched=True, seed=1, min_group=least))
        assert next(note for note in found.notes if note.code == "in-one-table-only")["targets"] == told
        # Rates are about those who have a counterpart, and so tell how many these are, however few are not.
        assert (found.n_scored, found.n_strangers) == (43, 10)
        assert {(risk.n_queries, risk.baseline) for risk in found.risks} == {(43, 1 / 50)}


def test_the_logs_of_the_embedded_people_hold_what_sites_saw():
    sets = populations.published(300, 3, seed=1)
    seen = topics.TopicsAPI(n_topics=sets.n_tokens).expose(sets, seed=1, site="site 1")
    heard = []
    (log,) = asking.read([log_of(seen)], io.Reading(user="visitor", time="week", items=("topic",)), heard=heard.append)
    found = traces_of(log.records, sets)
    assert np.array_equal(found.tokens, seen.tokens)
    assert found.vocabulary == seen.vocabulary
    assert {"understood-as", "export-read"} <= {note.code for note in heard}


def test_rows_as_a_frame():
    rng = np.random.default_rng(0)
    known, asked = (Traces(rng.integers(0, 9, (40, 2)), 9) for _ in range(2))
    result = audit_traces(known, asked, AuditSpec(seed=0, attacks=("hamming", "weighted-hamming"), epochs=(1, 2)))
    frame = result.to_frame()
    assert frame["attack"].to_list() == [risk.attack for risk in result.risks]
    assert frame["rate"].to_list() == [risk.rate for risk in result.risks]
    assert frame["lowest"].to_list() == list(result.lower_ends)
    assert set(frame["n_epochs"]) == {1, 2}
