"""What data a study needs is written beside it, found out before it runs, and said on what it makes."""

import gzip
import re
from pathlib import Path

import pytest

import reidrisk_studies as studies
from reidrisk_studies import sources
from reidrisk_studies.data import MissingDataError
from reidrisk_studies.writing import as_markdown

ROOT = Path(__file__).parents[2]
FILES = [(path, checksum) for source in sources.SOURCES.values() for path, checksum in source.files]


def subtitle(chart):
    title = chart.to_dict().get("title", "")
    return " ".join(title.get("subtitle", [])) if isinstance(title, dict) else ""


@pytest.mark.parametrize(("path", "checksum"), [pair for pair in FILES if pair[1]])
def test_checksums_are_those_of_the_files(study_file, path, checksum):
    file = study_file(path)
    assert sources._checksum(file) == checksum


def test_every_file_that_a_study_reads_has_an_entry():
    folder = ROOT / "studies" / "reidrisk_studies"
    code = "".join(path.read_text() for path in folder.rglob("*.py") if path.name != "sources.py")
    read = set(re.findall(r'"([a-z0-9_]+/[A-Za-z0-9_./-]+\.(?:gz|zip|rda|tsv|md))"', code))
    assert read | {"floc_lsh_clusters/SortingLshClusters"} == {path for path, checksum in FILES if checksum}


def test_the_studies_with_data_of_their_own_say_which():
    for name, study in studies.STUDIES.items():
        assert set(study.needs) <= set(sources.SOURCES), name
        if name.startswith(("jha-", "galozy-")) or name in ("carey-fig4", "floc-chrome", "floc-thresholds"):
            assert study.needs, name
    assert {name for study in studies.STUDIES.values() for name in study.needs} == set(sources.SOURCES)


def test_a_file_is_there_or_missing_or_another_one(tmp_path, monkeypatch):
    monkeypatch.setenv("REIDRISK_DATA", str(tmp_path))
    path, checksum = sources.SOURCES["msweb"].files[0]
    assert sources.state(path, checksum) == "missing"
    assert len(sources.missing_data(("msweb",))) == 1
    (tmp_path / path).parent.mkdir()
    for content in (gzip.compress(b"A,1,1,"), b"no gzip at all"):
        (tmp_path / path).write_bytes(content)
        assert sources.state(path, checksum) == "other"
        assert "checksum" in sources.missing_data(("msweb",))[0]


def test_packing_is_no_part_of_the_checksum(tmp_path):
    for level in (1, 9):
        (tmp_path / f"{level}.gz").write_bytes(gzip.compress(b"x" * 10_000, level))
    assert sources._checksum(tmp_path / "1.gz") == sources._checksum(tmp_path / "9.gz")


def test_a_study_without_its_data_says_so_on_its_picture_and_in_its_output(tmp_path, monkeypatch):
    pytest.importorskip("altair")
    monkeypatch.setenv("REIDRISK_DATA", str(tmp_path))
    found = studies.run("jha-fig2", users=268)
    assert len(found.without) == 1
    for text in (subtitle(found.chart()), found.to_dict()["without"][0], as_markdown(found, tmp_path)):
        assert "topics_rates_jha/lambda-user-topic.csv.gz is missing" in text


def test_stand_ins_that_are_always_used_are_said_to_be():
    pytest.importorskip("altair")
    found = studies.run("galozy-fig6", users=30)
    assert subtitle(found.chart()).startswith("Made without all of its data: no data of casas")


def test_a_study_with_its_data_says_nothing(study_file):
    pytest.importorskip("altair")
    for path, _ in sources.SOURCES["jha-rates"].files:
        study_file(path)
    found = studies.run("jha-fig2", users=268)
    assert found.without == ()
    assert subtitle(found.chart()) == ""


def test_a_study_that_is_about_its_data_alone_is_not_run_without(tmp_path, monkeypatch):
    monkeypatch.setenv("REIDRISK_DATA", str(tmp_path))
    with pytest.raises(MissingDataError, match="SortingLshClusters"):
        studies.run("floc-chrome", users=1_000)


def test_the_page_of_data_has_the_table_word_for_word():
    page = (ROOT / "docs" / "reference" / "data.md").read_text()
    assert sources.table() in page
    for name, study in studies.STUDIES.items():
        if study.needs and not name.endswith("-full"):
            assert f"| `{name}` | {', '.join(f'`{need}`' for need in study.needs)} |" in page, name
