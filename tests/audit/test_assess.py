"""assess: frames and files in, one answer out, and what was understood is said."""

import numpy as np
import polars as pl
import pytest

import reidrisk
from reidrisk import assess
from reidrisk.attacks import BM25
from reidrisk.base.errors import DataError, OptionError


def log(seed=0):
    rng = np.random.default_rng(seed)
    tastes = np.random.default_rng(1).dirichlet(np.full(30, 0.1), size=60)
    who = np.repeat(np.arange(60), 20)
    return {
        "customer": who,
        "date": np.datetime64("2024-01-01", "D") + rng.integers(0, 300, len(who)),
        "category": [f"c{rng.choice(30, p=tastes[person])}" for person in who],
    }


def test_a_frame_alone_and_two_of_them():
    said = []
    options = {"seed": 1, "budget": "20s", "say": said.append}
    one = reidrisk.assess(pl.DataFrame(log()), scenario="knows", **options)
    assert one.scenario["facts"] == 4
    assert any("'customer'" in line for line in said)
    two = reidrisk.assess(log(1), log(2), items=["category"], time="date", **options)
    assert two.strongest.rate > 0.3
    assert two.spec["inputs"]["kind"] == "memory"


def test_files_can_be_assessed_again(tmp_path):
    pl.DataFrame(log()).write_parquet(tmp_path / "log.parquet")
    found = reidrisk.assess(tmp_path / "log.parquet", scenario="knows", seed=1, budget=10, say=None)
    assert found.spec["inputs"]["files"] == [str(tmp_path / "log.parquet")]
    again = reidrisk.audit.run(reidrisk.audit.AuditSpec.model_validate(found.spec))
    assert again.strongest.rate == found.strongest.rate


def test_what_is_wrong_is_one_line():
    for wrong in (7, [1], None):
        with pytest.raises(DataError):
            reidrisk.assess(wrong, say=None)
    with pytest.raises(OptionError):
        reidrisk.assess(log(), users="customer", say=None)
    with pytest.raises(OptionError, match="budget"):
        reidrisk.assess(log(), budget="soon", say=None)


def test_options_of_the_audit_are_taken_beside_those_of_reading():
    asked = {"told": "what", "seed": 1, "say": None}
    found = reidrisk.assess(log(), scenario="knows", attacks=("bm25",), changes=("suppress-rare:5",), **asked)
    assert list(found.descriptions) == ["BM25"]
    assert [one.change for one in found.further.what_if.tried] == ["suppress-rare:5"]
    for same in ("bm25", [BM25()], BM25, [BM25]):
        again = reidrisk.assess(log(), scenario=reidrisk.scenarios.Knows, attacks=same, **asked)
        assert again.risks == found.risks
    for wrong in ({"attacks": "bm26"}, {"scenario": "Split"}, {"scenario": 7}, {"max_risk": "9"}, {"level": 95}):
        with pytest.raises(OptionError) as refused:
            reidrisk.assess(log(), say=None, **wrong)
        assert "\n" not in str(refused.value)
    with pytest.raises(OptionError, match="did you mean items"):
        reidrisk.assess(log(), item="category", say=None)
    with pytest.raises(OptionError, match="inputs"):
        reidrisk.assess(log(), inputs={"kind": "memory"}, say=None)


@pytest.mark.parametrize(
    ("frame", "options", "python", "flag"),
    [
        ({"customer": [1, 1, 2], "product": list("aba"), "store": list("xyx")}, {}, "items=", "--item COLUMN"),
        ({"customer": [1, 1, 2], "client": [3, 4, 4], "product": list("aba")}, {}, "user=", "--user"),
        ({"day": [1, 2, 2], "product": list("aba"), "when": [1, 3, 2]}, {"items": "product"}, "user=", "--user"),
        ({"customer": [1, 1], "lat": [1.0, 2.0], "lon": [1.0, 2.0]}, {"layout": "log"}, "grid='500m'", "--grid 500m"),
    ],
)
def test_an_option_is_called_what_who_is_to_give_it_calls_it(frame, options, python, flag, tmp_path, reidrisk):
    with pytest.raises(OptionError) as refused:
        assess(frame, say=None, **options)
    assert python in str(refused.value)
    assert "--" not in str(refused.value)
    pl.DataFrame(frame).write_csv(tmp_path / "x.csv")
    words = [part for name, value in options.items() for part in (f"--{name.removesuffix('s')}", value)]
    done = reidrisk("audit", "x.csv", *words)
    assert done.code == 2
    assert flag in done.err
    assert python not in done.err
