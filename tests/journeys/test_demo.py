"""The first thing a stranger runs."""

import json
import re
import shlex

import pytest

USERS, SAMPLE = 8_000, 1_500


@pytest.fixture(scope="module")
def demo():
    from reidrisk.audit import AuditSpec, Published, run

    spec = AuditSpec(inputs=Published(users=USERS, epochs=8), system="topics", seed=0, sample=SAMPLE)
    return run(spec)


def test_demo_reports_all_attacks_at_every_number_of_epochs_with_intervals(demo):
    found = {(risk.attack, risk.n_epochs): risk for risk in demo.risks}
    assert set(found) == {(name, r) for name in demo.descriptions for r in (1, 2, 4, 8)}
    usual = {"Hamming", "WeightedHamming", "ProfileBayes", "BM25", "Hellinger", "Markov", "NaiveBayes", "TfIdf"}
    assert set(demo.descriptions) == usual  # everybody is there every week: presence tells nobody apart
    for risk in found.values():
        assert risk.low <= risk.rate <= risk.high
        assert risk.baseline == 1 / USERS
        assert risk.n_queries == SAMPLE
        assert not risk.everyone


def test_demo_reports_the_bounds_that_apply_and_no_rate_exceeds_one(demo):
    references = {(bound.n_epochs, bound.setting): set() for bound in demo.bounds}
    for bound in demo.bounds:
        references[bound.n_epochs, bound.setting].add(bound.reference.split(",")[1].strip())
    assert "Corollary 1" in references[1, "random user"]
    for r in (1, 2, 4, 8):
        assert {"Lemma 3", "Lemma 9"} <= references[r, "random user"]
        assert "Lemma 4" in references[r, "matching"]
    for risk in demo.risks:
        for bound in demo.bounds:
            # Who knows how interests last may exceed a model in which weeks are independent.
            if bound.n_epochs == risk.n_epochs and not bound.within_model:
                assert risk.low <= bound.high, (risk.attack, bound.name, risk.n_epochs)


def test_demo_runs_every_attack_and_the_strongest_counts(demo):
    assert demo.not_run == ()
    assert demo.strongest.attack == "ProfileBayes"


def test_weighing_by_rarity_helps_beyond_chance_from_four_epochs_on(demo):
    gaps = {gap.n_epochs: gap for gap in demo.differences if gap.attack == "WeightedHamming"}
    assert gaps[4].low > 0
    assert gaps[8].low > 0


def test_demo_command_says_how_long_it_takes_and_prints_json(reidrisk):
    done = reidrisk("demo", "--users", 500, "--epochs", 2, "--json")
    assert done.code == 0, done.err
    assert re.search(r"about \d+ seconds", done.err)
    assert json.loads(done.out)["n_targets"] == 500


def test_the_example_and_the_commands_it_prints(reidrisk, tmp_path):
    done = reidrisk("demo", "--write-example", "example")
    assert done.code == 0, done.err
    assert {path.name for path in (tmp_path / "example").iterdir()} == {"site1.csv", "site2.csv"}
    commands = [line for line in done.out.replace("\\\n", " ").splitlines() if line.strip().startswith("reidrisk ")]
    assert [shlex.split(command)[1] for command in commands] == ["audit", "gate"]
    # The documentation runs it for as long as it takes.
    quick = [("--what-if-budget", "1s"), ()]
    codes = [reidrisk(*shlex.split(command)[1:], *more).code for command, more in zip(commands, quick, strict=True)]
    assert codes[0] == 0
    assert codes[1] in (0, 1, 3)
    assert {path.name for path in (tmp_path / "example").iterdir()} >= {"report.html", "result.json"}


def test_help_reads_like_a_menu(reidrisk):
    done = reidrisk("--help")
    assert done.code == 0
    for job in ("demo", "audit", "gate", "bounds", "convert"):
        assert job in done.out
    assert "Start here" in done.out
    assert reidrisk("--version").out.startswith("reidrisk ")
