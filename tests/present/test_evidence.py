"""The evidence pack: everything of the page in one file, whose sums hold, and the same bytes for the same result."""

import csv
import hashlib
import io
import json
import zipfile

import pytest
from examples import hostile, published

from reidrisk.base.errors import OptionError
from reidrisk.present import Table, page, write_evidence
from reidrisk.present.evidence import SUMS, _csv

pytest.importorskip("jinja2", reason="jinja2 is not installed; pages need it")
pytest.importorskip("vl_convert", reason="vl-convert is not installed; charts need it")


@pytest.fixture(scope="module")
def pack(tmp_path_factory):
    path = tmp_path_factory.mktemp("pack") / "evidence.zip"
    write_evidence(published(), path)
    return path


def read(path):
    with zipfile.ZipFile(path) as pack:
        return {name: pack.read(name) for name in pack.namelist()}


def test_every_file_has_its_sum(pack):
    files = read(pack)
    sums = dict(reversed(line.split("  ")) for line in files.pop(SUMS).decode().splitlines())
    assert sums == {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}
    assert {"README.txt", "report.html", "result.json", "spec.json"} <= set(files)


def test_result_and_spec_are_there_for_programs(pack):
    files, result = read(pack), published()
    assert json.loads(files["result.json"]) == json.loads(json.dumps(result.to_dict()))
    assert json.loads(files["spec.json"]) == result.spec


def test_all_charts_and_tables_of_the_page_are_there(pack):
    files, shown = read(pack), page(published())
    charts = {name.removeprefix("charts/").removesuffix(".svg") for name in files if name.startswith("charts/")}
    assert charts == set(shown.figures())
    assert all(data.count(b"\n") > 1 for name, data in files.items() if name.startswith("tables/")), "a head alone"
    rows = list(csv.reader(io.StringIO(files["tables/growth-figure.csv"].decode())))
    assert tuple(rows[0]) == shown.figures()["growth"].numbers.columns
    assert len(rows) > 4


def test_the_same_result_gives_the_same_bytes(pack, tmp_path):
    write_evidence(published(), tmp_path / "again.zip")
    assert (tmp_path / "again.zip").read_bytes() == pack.read_bytes()


def test_labels_of_the_data_name_no_file_and_run_nowhere(tmp_path):
    write_evidence(hostile(), tmp_path / "hostile.zip")
    assert all(
        ".." not in name and name.count("/") <= 1 and name.isprintable() for name in read(tmp_path / "hostile.zip")
    )
    table = Table(("what", "rate"), (("=cmd()", "-3.5"), ("@x", "-3 to 4"), ("+a", "3"), ("=1+cmd", "-2+cmd")))
    assert _csv(table) == "what,rate\n'=cmd(),-3.5\n'@x,-3 to 4\n'+a,3\n'=1+cmd,'-2+cmd\n"


def test_a_table_without_a_title_has_the_name_of_its_section(pack):
    files = read(pack)
    assert "tables/run-it-again.csv" in files
    assert "tables/section.csv" not in files


def test_another_name_is_refused(tmp_path):
    with pytest.raises(OptionError, match=r"an evidence pack is a ZIP file; give it a name that ends in .zip"):
        write_evidence(published(), tmp_path / "evidence.tar")
