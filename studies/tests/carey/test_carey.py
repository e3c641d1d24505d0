import csv
import itertools
import math

import pytest

import reidrisk_studies as studies
from reidrisk.base.errors import MissingExtraError, OptionError
from reidrisk.sequence import Schedule, Sizes
from reidrisk_studies.carey import ceiling
from reidrisk_studies.writing import as_csv, as_markdown

COLUMNS = {
    "carey-ceiling": "population,series,epochs,rate,low,high,share,share_low,share_high,targets,queries",
    "carey-fig2": "series,kind,setting,epochs,rate,low,high,baseline,targets,queries,reference",
    "carey-fig4": "population,series,kind,samples,rate,low,high,baseline,targets,queries",
    "carey-information": "quantity,epochs,value,unit,note",
    "carey-sequence": "quantity,epochs,value,low,high,printed",
}


@pytest.fixture(scope="module")
def without_data(tmp_path_factory):
    """Point the studies at an empty data folder: what a stranger has."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("REIDRISK_DATA", str(tmp_path_factory.mktemp("empty")))
        yield


@pytest.fixture(scope="module")
def results(without_data):
    with pytest.MonkeyPatch.context() as patch:  # a fit of many types takes minutes
        tiny = Sizes(width=8, heads=1, mlp=8, encoder_layers=1, decoder_layers=1)
        little = ceiling.Size(types=4, fit_steps=10, training=500, passes=1, steps=10, batch=32, sample=100, sizes=tiny)
        patch.setattr(ceiling, "SMALL", little)
        patch.setattr(ceiling, "EPOCHS", (1, 3))
        for name, value in (("PRESET", tiny), ("SCHEDULE", Schedule(batch=256, passes=1))):
            patch.setattr(f"reidrisk_studies.carey.sequences.{name}", value)
        return _run()


def _run():
    return {name: studies.run(name, users=2_000, seed=4) for name in COLUMNS}


@pytest.mark.parametrize("name", COLUMNS)
def test_every_study_has_its_columns_and_finite_numbers(results, name):
    rows = list(csv.DictReader(as_csv(results[name]).splitlines()))
    assert ",".join(rows[0]) == COLUMNS[name]
    assert len(rows) == len(results[name].rows)
    for row in rows:
        assert math.isfinite(float(row.get("rate", row.get("value"))))


def test_the_registry_holds_what_the_tests_know():
    named = {name.removesuffix("-full") for name in studies.STUDIES if name.startswith("carey-")}
    assert named == set(COLUMNS)
    for study in map(studies.find, COLUMNS):
        assert study.estimate(study.users) > study.estimate(1_000)


@pytest.mark.parametrize(
    ("name", "published"),
    [
        ("carey-fig2", ["below 1 %", "below 3 %", "neural above weighted above plain"]),
        ("carey-fig4", ["about 1 %"]),
        ("carey-information", ["7.59", "6.66", "0.93"]),
        ("carey-sequence", ["7.59, 6.66, 0.93", "6.54, 5.45, 1.09"]),
    ],
)
def test_published_values_stand_beside_ours_with_a_reason(results, name, published):
    found = results[name]
    for value in published:
        assert any(value in comparison.published for comparison in found.comparisons), value
    page = as_markdown(found, "out")
    for comparison in found.comparisons:
        assert comparison.why
        assert comparison.why in page
        assert comparison.ours in page
    assert found.command("out") in page
    assert all(assumption in page for assumption in found.assumptions)


def test_same_seed_same_result(results, without_data):
    assert as_csv(studies.run("carey-fig2", users=2_000, seed=4)) == as_csv(results["carey-fig2"])
    assert as_csv(studies.run("carey-fig2", users=2_000, seed=5)) != as_csv(results["carey-fig2"])


def series(result, name):
    return [row for row in result.rows if row["series"] == name]


def test_figure_2_orders_the_attackers_and_stays_below_the_bounds(results):
    found = results["carey-fig2"]
    plain, weighted, known = (series(found, name) for name in ("Hamming", "WeightedHamming", "FullInformation"))
    assert [row["epochs"] for row in plain] == [1, 2, 4, 6, 8]
    assert plain[0]["rate"] == pytest.approx(weighted[0]["rate"])  # one epoch: every match counts the same
    for rows in (plain, weighted, known):
        assert all(a["rate"] < b["rate"] for a, b in itertools.pairwise(rows))
    for p, w, k in zip(plain[2:], weighted[2:], known[2:], strict=True):
        assert p["rate"] < w["rate"] < k["rate"]
    assert all(row["queries"] == row["targets"] == 2_000 for row in plain + weighted)
    proven = [row for row in found.rows if row["kind"] == "bound" and row["setting"] == "random user"]
    for row in plain + weighted + known:
        for bound in proven:
            if bound["epochs"] == row["epochs"]:
                assert row["low"] <= bound["high"]


def test_figure_2_the_two_ways_to_the_optimum_agree(results):
    # Here every query is scored: what an interval of the estimate leaves out must be rare, not a matter of degree.
    known = {row["epochs"]: row for row in series(results["carey-fig2"], "FullInformation")}
    estimates = series(results["carey-fig2"], "optimal attacker, sampled")
    assert [row["epochs"] for row in estimates] == [1, 2, 4, 6, 8]
    for row in estimates:
        measured = known[row["epochs"]]
        assert row["low"] <= measured["high"]
        assert measured["low"] <= row["high"]


def test_figure_4_without_data_says_so_and_runs_on_the_stated_law(results):
    found = results["carey-fig4"]
    assert {row["population"] for row in found.rows} == {"a million songs"}
    told = " ".join(found.assumptions)
    assert "user_artists.dat.gz" in told
    assert "anonymous-msweb.data.gz" in told
    assert "REIDRISK_DATA" in told
    assert "1 / (rank + 40)" in told


def test_figure_4_one_sample_has_no_order_and_more_samples_say_more(results):
    ordered, unordered = (series(results["carey-fig4"], name) for name in ("ordered", "unordered"))
    assert [row["samples"] for row in ordered] == [1, 2, 4, 8]
    assert ordered[0]["rate"] == pytest.approx(unordered[0]["rate"])
    # In order, more samples can say less: a true match in one place competes with false ones in the others.
    assert all(a["rate"] < b["rate"] for a, b in itertools.pairwise(unordered))
    assert all(o["rate"] < u["rate"] for o, u in zip(ordered[1:], unordered[1:], strict=True))
    optimum = series(results["carey-fig4"], "bound: optimal attacker (Corollary 1)")[0]
    assert ordered[0]["rate"] <= optimum["rate"]


def test_figure_4_bounds_are_those_of_the_channel():
    import numpy as np

    from reidrisk import bounds
    from reidrisk_studies.carey.items import drawn
    from reidrisk_studies.carey.songs import _bounds

    sets = drawn(40, lambda rng, size: rng.integers(1, 5, size), np.arange(1.0, 13.0), seed=0)
    P = np.zeros((40, 12))
    for u in range(40):
        P[u, sets.items[sets.offsets[u] : sets.offsets[u + 1]]] = 1 / sets.sizes[u]
    found = {(row["series"], row["samples"]): row["rate"] for row in _bounds("x", sets)}
    assert found["bound: optimal attacker (Corollary 1)", 1] == pytest.approx(bounds.random_user(P))
    for r in (1, 2, 4, 8):
        informed = bounds.from_mutual_information(r * bounds.mutual_information(P), 40)
        assert found["bound: mutual information (Lemma 9)", r] == pytest.approx(informed)


def test_information_bound_is_fano_of_the_bits(results):
    rows = {(row["quantity"], row["epochs"]): row["value"] for row in results["carey-information"].rows}
    assert rows["Lemma 9: two sites", 1] == pytest.approx((1 + rows["mutual", 1]) / math.log2(10_000_000))
    assert rows["Lemma 9: top sets known", 2] == pytest.approx((1 + 2 * rows["about_set", 1]) / math.log2(10_000_000))
    assert rows["entropy", 1] - rows["conditional", 1] == pytest.approx(rows["mutual", 1])


@pytest.mark.parametrize("name", COLUMNS)
def test_charts_draw_every_line(results, name):
    spec = results[name].chart().to_dict()
    text = str(spec)
    for line in results[name].lines:
        assert line.name in text


def test_missing_extra_is_one_sentence(results, tmp_path, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "altair", None)
    with pytest.raises(MissingExtraError, match=r'pip install "\.\[report\]"'):
        studies.write(results["carey-fig2"], tmp_path)
    assert not list(tmp_path.iterdir())


def test_bad_options_are_refused():
    with pytest.raises(OptionError, match="choose one of carey-fig2"):
        studies.run("carey-fig9")
    with pytest.raises(OptionError, match="at least 100, not"):
        studies.run("carey-fig2", users=5)
    with pytest.raises(OptionError, match="seed"):
        studies.run("carey-fig2", users=500, seed=-1)
