"""An attack is added by registering its class: the audit, the help text and the page find it in the registry."""

import copy
import subprocess
import sys

import numpy as np
import pytest

from reidrisk import Traces, attacks, mechanisms, mitigations, present, records, scenarios
from reidrisk.attacks import registry as listed
from reidrisk.attacks.registry import by_search, entry, nameable, per_pair
from reidrisk.audit import AuditSpec, audit_traces, plan
from reidrisk.audit.axis import axis_of
from reidrisk.base.errors import OptionError, ReidRiskError
from reidrisk.mechanisms import TopKNoise
from reidrisk.records import Bags, Case, Truth

REGISTERED = sys.modules["reidrisk.attacks.registry"]

ADDED = """
from reidrisk import attacks
from reidrisk.attacks.registry import per_pair
from reidrisk.records import Traces

@attacks.register(kinds=(Traces,), cost=per_pair(1e-9), default=True)
class LastEpoch(attacks.Hamming):
    \"\"\"Link to the target that agrees in the last epoch.\"\"\"
    @property
    def description(self): return "Looks at the last epoch alone. It knows nothing else."
    def _weights(self, targets):
        weights = super()._weights(targets)
        only = (np.arange(targets.n_epochs) == targets.n_epochs - 1)[:, None] * weights.match
        return type(weights)(only, np.zeros_like(only), 0)
"""


@pytest.fixture
def added(monkeypatch):
    monkeypatch.setattr(REGISTERED, "_REGISTRY", copy.deepcopy(REGISTERED._REGISTRY))
    exec(ADDED, {"np": np})
    return entry("last-epoch")


def test_an_attack_added_in_ten_lines_is_in_the_audit_and_on_the_page(added):
    lines = [line for line in ADDED.splitlines() if line and not line.startswith("from ")]
    assert len(lines) <= 10, "beside the imports"
    table = Traces(np.random.default_rng(0).integers(0, 9, (60, 3)), 9)
    found = audit_traces(table, table, AuditSpec(seed=1), truth=np.arange(60))
    assert found.spec["attacks"][0] == "hamming"
    assert found.spec["attacks"][-1] == "last-epoch"
    assert "LastEpoch" in {risk.attack for risk in found.risks}
    page = present.render(found)
    assert added.label == "Last Epoch"
    assert "Last Epoch" in page
    assert "Looks at the last period alone." in page
    assert AuditSpec(attacks=("last-epoch",)).attacks == ("last-epoch",)


def test_an_attack_added_is_in_the_help():
    code = f"import numpy as np\n{ADDED}\nfrom reidrisk.cli import main\nmain(['audit', '--help'])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert "last-epoch" in done.stdout, done.stderr


def test_names_are_unique(added):
    with pytest.raises(OptionError, match="called hamming already"):
        attacks.register(kinds=(Traces,), cost=by_search)(type("Hamming", (attacks.Hamming,), {}))


def test_every_attack_says_what_it_takes_and_costs():
    traces = Traces(np.zeros((50, 4), dtype=int), 5)
    for one in listed():
        assert one.kinds
        assert one.description.endswith((".", ").", ":", ")"))
        if Traces in one.kinds:
            costs = [one.cost(traces)(n) for n in (1_000, 1_000_000)]
            assert 0 < costs[0] < costs[1]
        if not one.needs:
            one.attack.knowing(TopKNoise(2, 0.1, 5))
    rivals = {"affinity", "bm25", "hellinger", "hypergeometric", "naive-bayes", "overlap", "tf-idf"}
    assert {one.name for one in nameable(Bags)} == {
        *("clock", "coincidences", "disjoint", "matched", "same-totals", "profile-bayes", "rehearsed", "totals"),
        *("all-cells", "same-cells", "id-order", "row-order"),
        *rivals,
    }
    assert {"presence", "markov", *rivals} - {one.name for one in nameable(Traces)} == {"hypergeometric", "overlap"}


def planned(table, **options):
    spec = AuditSpec(seed=1, **options)
    case = Case(table, table, Truth(np.arange(len(table)), "given"))
    return plan.planned(spec, case, axis_of(case, spec, None), spec.budget)


@pytest.mark.parametrize(("n", "epochs", "ran"), [(100, 2, True), (40_000, 12, True), (10, 1, False)])
def test_the_strong_attack_runs_unasked_where_it_has_something_to_learn(n, epochs, ran):
    found = planned(Traces(np.zeros((n, epochs), dtype=np.int16), 5))
    assert ("profile-bayes" in found.names) == ran
    assert found.names[:2] == ("hamming", "weighted-hamming")
    assert found.not_run == ()


def test_costs_decide_how_many_records_are_scored():
    table = Traces(np.zeros((40_000, 30), dtype=np.int16), 5)
    plans = [planned(table, attacks=names, epochs=(30,)) for names in (("hamming",), ("profile-bayes",))]
    assert plans[0].sample is None
    size = plans[1].sample
    assert per_pair(3e-9)(table)(size) <= 60 < per_pair(3e-9)(table)(1.2 * size)


def test_what_runs_by_default_counts_for_how_many_records_are_scored_at_every_number_of_epochs():
    table = Traces(np.arange(800_000).reshape(100_000, 8) % 300, 300)
    found = planned(table)
    costs = [entry(name).cost(table) for name in found.names]
    once = sum(cost(found.sample) for cost in costs)
    assert once * 15 / 8 <= 60 < 1.2 * once * 15 / 8


def test_an_attack_that_has_nothing_to_go_by_does_not_run_unasked():
    there = Traces(np.arange(400).reshape(100, 4) % 7, 7)
    tokens = np.array(there.tokens)
    tokens[::3, 1] = -1
    gaps = Traces(tokens, 7)
    ran = [
        ["presence" in [one.name for one in plan.applicable(Case(a, b, None))] for b in (there, gaps)]
        for a in (there, gaps)
    ]
    assert ran == [[False, False], [False, True]]
    assert planned(there, attacks=("presence",)).names == ("presence",)


def test_a_spec_refuses_what_cannot_be_chosen_by_name():
    for name in ("magic", "mixture-bayes", "full-information"):
        with pytest.raises(
            ValueError,
            match=r"choose from fellegi-sunter, .*hamming, weighted-hamming, all-cells, same-cells, profile-bayes",
        ):
            AuditSpec(attacks=(name,))
    with pytest.raises(OptionError, match="no attack called 'magic'"):
        entry("magic")


def test_declared_mechanisms_reach_the_attacks():
    topics = AuditSpec(system="topics"), AuditSpec(system="topics", noise=0.0)
    chosen = [attacks.ProfileBayes.knowing(spec.mechanism(9)) for spec in (AuditSpec(), AuditSpec(top_k=3), *topics)]
    assert [(one.top_k, one.noise) for one in chosen] == [(None, 0.0), (3, 0.0), (5, 0.05), (5, 0.0)]
    assert attacks.WeightedHamming.knowing(AuditSpec().mechanism(1)).top_k == 1


def test_a_registration_that_would_fail_later_is_refused_and_leaves_no_trace():
    one, cost = type("Fine", (attacks.Hamming,), {}), per_pair(1e-9)
    unfinished = type("Unfinished", (attacks.Attack,), {})
    before = attacks.registry()
    for wrong, line in (
        ((lambda: attacks.register(kinds=Traces, cost=cost)(one)), "kinds is a tuple"),
        ((lambda: attacks.register(kinds=(), cost=cost)(one)), "one at least"),
        ((lambda: attacks.register(kinds=("traces",), cost=cost)(one)), "kinds is a tuple"),
        ((lambda: attacks.register(kinds=(Traces,), cost=1e-9)(one)), "cost is"),
        ((lambda: attacks.register(kinds=(Traces,), cost=cost)(one())), "subclass of Attack"),
        ((lambda: attacks.register(kinds=(Traces,), cost=cost)(object)), "subclass of Attack"),
        ((lambda: attacks.register(kinds=(Traces,), cost=cost)(unfinished)), "has no fit"),
        ((lambda: scenarios.register(kinds=Traces)(type("S", (scenarios.Split,), {}))), "kinds is a tuple"),
        ((lambda: scenarios.register(kinds=(Traces,), tables=3)(type("S", (scenarios.Split,), {}))), "tables"),
        ((lambda: scenarios.register(kinds=(Traces,))(one)), "subclass of Scenario"),
        ((lambda: mitigations.register(kinds=Traces)(type("D", (mitigations.Draw,), {}))), "kinds is a tuple"),
        ((lambda: mitigations.register((Traces,), 0.5)(type("D", (mitigations.Draw,), {}))), "strengths"),
        ((lambda: mechanisms.register()(one)), "subclass of Mechanism"),
        ((lambda: records.register("things", layouts="heap")(one)), "layouts"),
        ((lambda: records.register("things", read="csv")(one)), "read is a function"),
    ):
        with pytest.raises(ReidRiskError, match=line):
            wrong()
    assert attacks.registry() == before
