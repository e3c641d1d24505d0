import csv
import math

import pytest

import reidrisk_studies as studies
from reidrisk import populations, release
from reidrisk_studies.dick import releases as dick_release
from reidrisk_studies.dick.printed import ACROSS, SINGLE, STATIONARY, WITHIN
from reidrisk_studies.dick.releases import size_of
from reidrisk_studies.writing import as_csv, as_markdown

torch = pytest.importorskip("torch", reason="torch is not installed; fitting needs it")

USERS = 3_000
COLUMNS = {
    "dick-fig1": "statistics of,kind,what,published,ours,low,high",
    "dick-fig3": "statistics of,series,figure,error,share",
    "dick-fig5": 'distinct topics,real,synthetic,"synthetic, not padded"',
    "dick-fig6": "model of,attack,users,epochs,rate,low,high,deviation,baseline,targets,queries,trials",
    "dick-fig8": "statistics,first,second,published,ours",
}


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    """These models are tiny: threads would wait for each other."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def release_files(tmp_path_factory):
    """Leave statistics laid out as the public release has them."""
    folder = tmp_path_factory.mktemp("data")
    sets = populations.published(20_000, 2, seed=9)
    stats = release.statistics(sets, math.log(3), 1e-6, simulation=True, seed=0)
    release.write_statistics(stats, folder / "topics_release")
    return folder


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("REIDRISK_DATA", str(tmp_path_factory.mktemp("empty")))
        patch.setattr(dick_release, "size_of", lambda users: SMALL)
        for module in ("statistics", "synthetic_users"):
            patch.setattr(f"reidrisk_studies.dick.{module}.size_of", lambda users: SMALL)
        dick_release.fitted.cache_clear()
        found = {name: studies.run(name, users=USERS, seed=2) for name in COLUMNS}
        dick_release.fitted.cache_clear()
    return found


SMALL = dick_release.Size(types=4, steps=4, trials=2)


@pytest.mark.parametrize("name", COLUMNS)
def test_every_study_has_its_columns_and_finite_numbers(results, name):
    text = as_csv(results[name])
    assert text.splitlines()[0] == COLUMNS[name]
    for row in csv.DictReader(text.splitlines()):
        for value in row.values():
            try:
                assert math.isfinite(float(value))
            except ValueError:
                continue
    assert {known for known in studies.STUDIES if known.startswith("dick-")} == set(COLUMNS)


@pytest.mark.parametrize(
    ("name", "published"),
    [
        ("dick-fig1", ["%"]),
        ("dick-fig3", ["virtually all", "75 %"]),
        ("dick-fig5", ["89 %"]),
        ("dick-fig6", ["below 1 %"]),
        ("dick-fig8", ["0.998571", "0.997261 (weeks 1 and 4; the text says at least 99.8 %)", "0.998256"]),
    ],
)
def test_published_values_stand_beside_ours_with_a_reason(results, name, published):
    found = results[name]
    for value in published:
        assert any(value in comparison.published for comparison in found.comparisons), value
    page = as_markdown(found, "out")
    assert all(c.why and c.ours in page for c in found.comparisons)
    assert all(assumption in page for assumption in found.assumptions)


@pytest.mark.parametrize("name", COLUMNS)
def test_charts_draw_every_line(results, name):
    text = str(results[name].chart().to_dict())
    assert results[name].lines
    for line in results[name].lines:
        assert line.name in text


def test_figure_1_has_every_printed_number_and_its_interval(results):
    rows = results["dick-fig1"].rows
    assert len(rows) == len(SINGLE) + len(WITHIN) + len(ACROSS) == 30
    assert rows[0]["published"] == pytest.approx(0.3460)
    assert all(row["low"] <= row["ours"] <= row["high"] for row in rows)


def test_figure_3_counts_terms_and_curves_rise(results):
    rows = [r for r in results["dick-fig3"].rows if r["series"] == "model" and r["figure"] == "3b"]
    shares = [row["share"] for row in rows]
    assert shares == sorted(shares)
    assert {row["figure"] for row in results["dick-fig3"].rows} == {"3a", "3b", "4a", "4b"}


def test_figure_5_is_a_distribution(results):
    rows = results["dick-fig5"].rows
    for column in ("real", "synthetic", "synthetic, not padded"):
        assert sum(row[column] for row in rows) == pytest.approx(1.0)
    assert len(rows) == 20


def test_figure_6_has_every_attack_on_both_kinds_of_users(results):
    rows = results["dick-fig6"].rows
    assert len(rows) == 3 * 3 * 2
    assert {row["epochs"] for row in rows} == {1, 2, 4}
    assert all(row["trials"] == 2 and row["queries"] <= USERS for row in rows)


def test_figure_8_is_printed_week_by_week(results):
    rows = results["dick-fig8"].rows
    assert len(rows) == sum(map(len, STATIONARY.values())) == 15
    assert min(row["published"] for row in rows if row["statistics"] == "within") == 0.997261
    assert all(0.0 < row["ours"] < 1.0 for row in rows)


def test_more_users_than_published_take_the_published_size():
    assert size_of(10_000_000) == dick_release.Size(500, 2000, 10)
    known = studies.find("dick-fig6")
    assert known.estimate(10_000_000) > 9_000 > 300 > known.estimate(1_000_000)


def test_the_files_of_the_public_release_are_studied_where_they_are(release_files, monkeypatch):
    monkeypatch.setenv("REIDRISK_DATA", str(release_files))
    given = dick_release.public_release()
    assert given.n_tokens == 469
    found = studies.run("dick-fig1", users=USERS, seed=2)
    rows = {row["what"]: row for row in found.rows if row["statistics of"] == "public release"}
    assert rows["/News"]["ours"] == pytest.approx(given.single[0])
    assert "were read from the data folder" in found.assumptions[-1]
    (release_files / "topics_release" / "taxonomy.json").unlink()
    assert dick_release.public_release().n_tokens == 469


def test_same_seed_same_result(results):
    assert as_csv(studies.run("dick-fig8", users=USERS, seed=2)) == as_csv(results["dick-fig8"])
    assert as_csv(studies.run("dick-fig8", users=USERS, seed=3)) != as_csv(results["dick-fig8"])
