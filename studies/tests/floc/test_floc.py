"""The studies of floc: published figures beside ours, without data and with it."""

import csv
import itertools
import math
import warnings
import zipfile

import numpy as np
import polars as pl
import pytest

import reidrisk_studies as studies
from reidrisk import bounds, cohorts
from reidrisk.base.errors import FormatError
from reidrisk_studies.data import MissingDataError
from reidrisk_studies.floc import people as floc_people
from reidrisk_studies.floc.people import Browsing, read_msnbc, read_panel, synthetic
from reidrisk_studies.writing import as_csv, as_markdown

COLUMNS = {
    "floc-thresholds": "data,simhash of,t,blocked,certain,possible,users blocked,cohorts,smallest,users,"
    "without a cohort,categories",
    "floc-weeks": "sites meet people in,attack,weeks,rate,low,high,baseline,targets,queries,bound of one week",
    "floc-private": "noise,rule,model,epsilon,delta,users,agreement,low,high,missed,needless,sensitive,cohorts",
}


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Run the studies as a stranger would, who has no data."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("REIDRISK_DATA", str(tmp_path_factory.mktemp("empty")))
        return {name: studies.run(name, users=3_000, seed=2) for name in COLUMNS}


@pytest.mark.parametrize("name", COLUMNS)
def test_every_study_has_its_columns_and_its_page(results, name):
    found = results[name]
    rows = list(csv.DictReader(as_csv(found).splitlines()))
    assert ",".join(rows[0]) == COLUMNS[name]
    assert all(math.isfinite(float(value)) for row in found.rows for value in row.values() if isinstance(value, float))
    page = as_markdown(found, "out")
    for comparison in found.comparisons:
        assert comparison.why
        assert comparison.ours in page


def test_published_figures_stand_beside_ours(results):
    printed = " ".join(c.published for c in results["floc-thresholds"].comparisons)
    for figure in ("more than 15 %", "roughly 7 %", "4 %", "more than 90 %", "2 alone"):
        assert figure in printed
    assert any("Left out" in text and "msweb" in text for text in results["floc-thresholds"].assumptions)


def test_a_higher_threshold_blocks_no_more(results):
    for kind in ("all pages", "harmless pages"):
        shares = [row["blocked"] for row in results["floc-thresholds"].rows if row["simhash of"] == kind]
        assert shares == sorted(shares, reverse=True)
    for row in results["floc-thresholds"].rows:
        assert row["certain"] <= row["blocked"] + 1e-12


def test_one_week_keeps_the_bound_and_eight_weeks_name_nearly_everyone(results):
    rows = {(row["sites meet people in"], row["weeks"], row["attack"]): row for row in results["floc-weeks"].rows}
    one, eight = rows["same weeks", 1, "Hamming"], rows["same weeks", 8, "Hamming"]
    assert one["rate"] <= one["bound of one week"] <= bounds.from_k_anonymity(300)
    assert eight["rate"] > 0.9
    assert rows["half of the weeks", 8, "WeightedHamming"]["rate"] < eight["rate"]


def test_more_budget_needs_fewer_users(results):
    needed = {}
    for row in results["floc-private"].rows:
        if row["agreement"] >= 0.95 and row["rule"] == "plain":
            needed.setdefault(row["noise"], row["users"])
    assert needed["Central, epsilon 1"] <= needed["Central, epsilon 0.1"] <= needed["Local, epsilon 0.5"]


def test_categories_and_cohorts_of_four_people():
    # Items 0 and 1 are of category a, item 1 of category b as well.
    people = Browsing(
        "four", np.array([0, 3, 4, 4, 6]), np.array([0, 1, 2, 2, 1, 1], dtype=np.int32), ["x", "y", "z"],
        {"a": [0, 1], "b": [1]}, 1, 1, "",
    )  # fmt: skip
    import pyarrow as pa

    people = Browsing(**{**people.__dict__, "names": pa.array(people.names, pa.large_string())})
    assert (people.visited().toarray() > 0).astype(int).tolist() == [[1, 1], [0, 0], [0, 0], [1, 1]]
    assert people.visited()[0, 0] >= 1
    assert len(people.first(2)) == 2
    assigned = people.assignment()
    assert (assigned < 0).tolist() == [False, False, True, False]
    # Without sensitive items the last person has nothing left, and the first two look alike.
    harmless = people.assignment(harmless=True)
    assert (harmless < 0).tolist() == [False, False, True, True]
    assert harmless[0] == harmless[1]


def test_repeated_items_count_once_towards_a_cohort():
    people = synthetic(500, seed=0)
    few = np.array([len(set(people.codes[a:b].tolist())) < 7 for a, b in itertools.pairwise(people.starts)])
    assert few.any()
    assert ((people.assignment() < 0) == few).all()


def test_a_file_that_is_no_msnbc_is_refused(tmp_path):
    path = tmp_path / "pages.zip"
    path.write_bytes(b"no archive")
    with pytest.raises(FormatError, match=r"pages\.zip"):
        read_msnbc(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.seq", "% Different categories\n\nhealth news\n\n% Sequences:\n\n1 2\n3\n")
    with pytest.raises(FormatError, match="in no category"):
        read_msnbc(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.seq", "% Different categories\n\nhealth news\n\n% Sequences:\n\n1 2 \n2 \n")
    found = read_msnbc(path)
    assert len(found) == 2
    assert found.codes.tolist() == [0, 1, 1]
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.seq", "% Different categories\n\nhealth news\n\n% Sequences:\n\n")
    with warnings.catch_warnings(action="error"), pytest.raises(FormatError, match="not a single visitor"):
        read_msnbc(path)


def test_an_r_file_that_is_no_panel_is_refused_by_name(tmp_path):
    reader = pytest.importorskip("pyreadr")
    path = tmp_path / "panel.rds"
    path.write_bytes(b"no R file")
    with pytest.raises(FormatError, match=r"panel\.rds"):
        read_panel(path, tmp_path, tmp_path)
    # Times as text: everything else is as in a panel.
    columns = {"panelist_id": ["p"], "url": ["https://a.com"], "timestamp": ["2024-05-01 12:00:00"]}
    reader.write_rds(path, pl.DataFrame(columns))
    with pytest.raises(FormatError, match="timestamp as a time"):
        read_panel(path, tmp_path, tmp_path)


def test_chromes_table_is_asked_for_by_name(monkeypatch, tmp_path):
    monkeypatch.setenv("REIDRISK_DATA", str(tmp_path))
    with pytest.raises(MissingDataError, match="SortingLshClusters"):
        studies.run("floc-chrome", users=100)


def test_fewer_people_make_smaller_cohorts_or_none_and_the_note_says_so(monkeypatch):
    people = Browsing(**{**synthetic(4_000, seed=0).__dict__, "name": "many", "min_size": 400})
    few = people.first(400)
    assert few.min_size == 40
    assert "at least 40, " in few.assumption
    assert "first 400 of them" in few.assumption
    assert people.first(50).min_size == 10
    assert "cohort of 10" in people.first(5).too_few()
    for name in ("_msweb", "_msnbc", "_panel"):
        monkeypatch.setattr(floc_people, name, lambda: people)
    found, missing = floc_people.all_browsing(200, 0)
    assert [each.min_size for each in found] == [20, 20, 20, 20]
    assert not missing
    monkeypatch.setattr(floc_people, "_panel", lambda: Browsing(**{**people.__dict__, "min_items": 10**6}))
    found, missing = floc_people.all_browsing(200, 0)
    assert len(found) == 3
    assert missing == ["Left out: many: 0 of 200 people have enough items, too few for a cohort of 20."]


@pytest.mark.data
def test_studies_of_few_real_people_run(study_file):
    study_file("msweb/anonymous-msweb.data.gz")
    found = studies.run("floc-thresholds", users=5_000)
    assert all(int(row["smallest"]) >= 10 for row in found.rows)
    assert studies.run("floc-private", users=200).rows


@pytest.mark.data
def test_chromes_table_as_published(study_file):
    study_file("floc_lsh_clusters/SortingLshClusters")
    found = studies.run("floc-chrome", users=1_000)
    assert sum(row["cohorts"] for row in found.rows) == 33_872
    assert sum(row["blocked"] for row in found.rows) == 792
    assert sum(row["share of the space"] for row in found.rows) == pytest.approx(1.0)
    assert "792 of 33,872: 2.3 %" in [c.ours for c in found.comparisons]


@pytest.mark.data
def test_public_browsing_has_its_published_size(study_file):
    study_file("msweb/anonymous-msweb.data.gz")
    people = floc_people._msweb()
    assert len(people) == 32_711
    assert len(people.names) == 294
    assert all(people.sensitive.values())
    areas = {people.names[item].as_py() for items in people.sensitive.values() for item in items}
    assert {"/jobs", "/norge", "/kids"} <= areas
    counts = cohorts.count_visits(np.zeros(len(people), dtype=int), people.visited())
    # Who saw both areas counts once.
    jobs = [int((people.codes == item).sum()) for item in people.sensitive["looking for work"]]
    assert max(jobs) <= counts.population[0] <= sum(jobs)
