"""With --mask-ids no value of the data is in an error line; rows and what was typed are."""

import re

import pytest

WORD, OTHER = "Zebulon", "Quetzal"
NUMBER = 90210417
GOOD = "user,epoch_0,epoch_1\nann,1,2\nbob,3,4\n"
# Tables that are refused; a user is {0}, a label or a token is {1}.
TABLES = {
    "user twice": "user,epoch_0\n{0},1\nbob,2\n{0},3\n",
    "observation twice": "user,epoch,token\n{0},1,{1}\n{0},1,{1}\n",
    "labels and numbers": "user,epoch_0\n{0},{1}\nbob,word\ncat,8\n",
    "no header": "{0},{1},{1}x\nbob,2,3\n",
    "unknown column": "user,epoch_0,{0}\nbob,1,2\n",
    "column twice": "user,{1},{1}\nbob,1,2\n",
    "cells missing": "user,epoch_0\n{0},{1},{1}\n",
    "no user": "user,epoch_0\n{0},{1}\n,{1}\n",
    "an epoch that is empty": "user,epoch,token\n{0},,{1}\n",
    "bags": "user,token\n{0},{1}\n",
    "another person": "user,epoch_0,epoch_1\n{0},1,2\n",
}


@pytest.fixture(
    params=[(WORD, OTHER), (NUMBER, NUMBER + 1), (f"{WORD} {OTHER}", f"it's \\ {OTHER}\"s")],
    ids=["words", "numbers", "quotes"],
)
def secrets(request):
    return request.param


@pytest.fixture
def refused(reidrisk, secrets, monkeypatch):
    """Have a command refused, with and without the mask."""

    def run(*command, shows=None):
        plain = reidrisk(*command)
        assert plain.code == 2, plain
        done = reidrisk("--mask-ids", *command)
        assert (done.code, done.out) == (2, "")
        assert done.err.count("\n") == 1
        for secret in (WORD, OTHER, str(NUMBER), str(NUMBER + 1), "9.02"):
            assert secret not in done.err
        for place in re.findall(r"\b(?:rows?|line|record) \d+(?: and \d+)?", plain.err):
            assert place in done.err
        monkeypatch.setenv("REIDRISK_MASK_IDS", "1")
        assert reidrisk(*command) == done
        monkeypatch.delenv("REIDRISK_MASK_IDS")
        assert reidrisk(*command) == plain  # the option was for one run
        return done

    return run


@pytest.mark.parametrize("case", TABLES)
def test_tables(refused, table, secrets, case):
    bad = table("bad.csv", TABLES[case].format(*secrets))
    done = refused("audit", bad, table("good.csv", GOOD))
    if case != "another person":
        assert "bad.csv" in done.err


def test_truth_and_vocabularies(refused, table, secrets):
    user, label = secrets
    a = table("a.csv", f"user,epoch_0\n{user},{label}\nbob,x{label}\n")
    refused("audit", a, a, "--truth", table("pairs.csv", f"query,target\n{user}0,bob\n"))
    refused("audit", a, a, "--truth", table("pairs.csv", f"query,target\n{user},bob\n{user},{user}\n"))
    refused("audit", a, a, "--vocabulary", table("words.txt", f"one\ntwo\nx{label}\n"))
    refused("audit", a, a, "--vocabulary", table("words.txt", f"{label}\ntwo\n{label}\n"))
    refused("audit", a, a, "--vocabulary", table("words.json", f'["{WORD}"'))


def test_channels_cohorts_bandits_and_visits(refused, table, secrets):
    user, label = secrets
    refused("bounds", table("m.csv", f"user,a,b\n{user},0.5,0.5\n{user},1,0\n"))
    refused("bounds", table("m.csv", f"a,b\n0.5,{label}\n"))
    visits = table("visits.csv", f"user,host\n{user},a.org\nbob,b.org\n")
    kinds = table("kinds.csv", "host,category\na.org,health\n")
    refused("cohorts", "audit", table("c.csv", f"user,cohort\n{user},1\n{user},2\n"), visits, kinds)
    refused("cohorts", "audit", table("c.csv", f"user,cohort\n{user},{WORD}\n"), visits, kinds)
    refused("cohorts", "audit", table("c.csv", "user,cohort\nbob,1\n"), visits, kinds)
    refused("cohorts", "audit", table("c.csv", f"user,{WORD}\nbob,1\n"), visits, kinds)
    log = table("log.csv", f"user,timestamp,state\n{user},1,{label}\n{user},2,b\nbob,1,b\nbob,2,{label}\n")
    refused("bandits", "tradeoff", log, "--states", table("states.txt", "b\nc\n"))
    refused("bandits", "tradeoff", log, "--states", table("states.txt", f"b\n{OTHER}\n{OTHER}\n"))
    refused("bandits", "tradeoff", table("log.csv", f"user,timestamp,state\n{user},{WORD},b\n"))


def test_what_was_typed_stays(reidrisk, table):
    bad = table("week-7.csv", f"user,epoch_0\n{WORD},1\n{WORD},2\n")
    done = reidrisk("--mask-ids", "audit", bad, bad)
    assert str(bad) in done.err
    assert "rows 1 and 2" in done.err
    done = reidrisk("--mask-ids", "audit", bad, bad, "--level", "7")
    assert "--level" in done.err


def test_a_bug_is_named_by_its_kind(reidrisk, monkeypatch, table):
    from reidrisk import audit

    def broken(*_, **__):
        raise RuntimeError(f"no {WORD}")

    monkeypatch.setattr(audit, "run", broken)
    good = table("good.csv", GOOD)
    assert WORD in reidrisk("audit", good, good).err
    done = reidrisk("--mask-ids", "audit", good, good)
    assert done.code == 70
    assert "RuntimeError" in done.err
    assert WORD not in done.err
