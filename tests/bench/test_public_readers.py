"""Readers of the public data sets, on made-up files of the same layout; the manifest names only what there is."""

import gzip
import io
import sys
import tarfile
import zipfile
from importlib import import_module
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from reidrisk import bench
from reidrisk.bench.sources import TABLES, load

FOLDER = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture(scope="module")
def readers():
    sys.path.insert(0, str(FOLDER))
    try:
        yield import_module("data.readers")
    finally:
        sys.path.remove(str(FOLDER))


@pytest.fixture(scope="module")
def manifest():
    return bench.read_manifest(FOLDER / "data" / "manifest.toml")


def packed(path, text):
    path.write_bytes(gzip.compress(text.encode("latin-1")))
    return [path]


def test_every_data_set_has_a_reader_a_checksum_an_origin_and_a_licence(manifest, readers):
    known = {*TABLES, "published", *readers.READERS}
    for data in manifest.sets:
        assert data.format in known, data.name
        assert data.origin, data.name
        assert data.licence, data.name
        assert all(len(checksum) == 64 for checksum in data.files.values()), data.name
    assert set(readers.READERS) <= {data.format for data in manifest.sets}


def test_nobody_is_in_two_parts_of_which_one_is_held_back(manifest):
    for name in ("online-retail", "online-retail-invoices", "msweb"):
        choice, held = (manifest.only([f"{name}-{part}"]).sets[0] for part in ("choice", "held-back"))
        assert (choice.held_back, held.held_back) == (False, True)
        assert (choice.people, held.people) == ((0.0, 0.5), (0.5, 1.0))
        assert choice.files == held.files


def events(manifest, readers, name, paths, users=100):
    data = manifest.only([name]).sets[0]
    return data.events(readers.READERS[data.format](paths, users, 0), users, 0)


def test_check_ins(manifest, readers, tmp_path):
    head = "id,user_id,location_id,latitude,longitude,start_day,start_min,weekday\n"
    one = packed(tmp_path / "train.csv.gz", head + "1,7,30,0.1,0.2,0,600,1\n2,8,31,0.1,0.2,1,5,2\n")
    two = packed(tmp_path / "test.csv.gz", head + "3,7,31,0.1,0.2,2,10,3\n")
    found = events(manifest, readers, "foursquare", one + two)
    assert found.time.tolist() == [600, 2_890, 1_445]
    assert found.vocabulary.labels == ("30", "31")


def test_invoices_without_returns_and_without_lines_of_nobody(manifest, readers, tmp_path):
    when = pl.Series([0, 0, 1, 2, 3, 4]).cast(pl.Datetime("ns"))
    frame = pl.DataFrame(
        {
            "Description": ["cup", "tea", "cup", "cup", None, "tea"],
            "Quantity": [1, 2, -1, 3, 1, 1],
            "InvoiceDate": when,
            "CustomerID": [12.0, 12.0, 12.0, None, 13.0, 14.0],
        }
    )
    frame.write_parquet(tmp_path / "retail.parquet")
    rows = readers.online_retail([tmp_path / "retail.parquet"], 9, 0)
    assert rows.select("CustomerID", "Description").rows() == [(12, "cup"), (12, "tea"), (14, "tea")]
    assert rows["invoice"].n_unique() == 2
    held = events(manifest, readers, "online-retail-invoices-held-back", [tmp_path / "retail.parquet"])
    assert held.users.tolist() == [14]
    assert held.columns == ("invoice",)


def test_purchases_by_number_and_whole_dollars(manifest, readers, tmp_path):
    text = " customer_id  date number_of_cds  dollar_value\n 00001 19970101  1   11.77\n 00002 19970112  5   77.00\n"
    found = events(manifest, readers, "cdnow", packed(tmp_path / "cdnow.txt.gz", text))
    assert found.n_users == 2
    assert len(found.vocabulary) == 2
    assert found.time.tolist() == [19970101, 19970112]


def test_areas_of_a_site(manifest, readers, tmp_path):
    text = 'A,1277,1,"NetShow","/stream"\nC,"10001",10001\nV,1000,1\nV,1001,1\nC,"10002",10002\nV,1001,1\n'
    paths = packed(tmp_path / "msweb.data.gz", text)
    assert events(manifest, readers, "msweb-choice", paths).users.tolist() == [10001]
    assert events(manifest, readers, "msweb-held-back", paths).users.tolist() == [10002]


def test_visits_of_a_day_are_a_fixed_draw_of_the_long_ones(manifest, readers, tmp_path, monkeypatch):
    monkeypatch.setattr(readers, "MSNBC_VISITORS", 4)
    lines = ["% a comment", "", "frontpage news", *(" ".join(["3"] * (18 + i)) for i in range(8))]
    with zipfile.ZipFile(tmp_path / "msnbc.zip", "w") as made:
        made.writestr("msnbc.seq", "\n".join(lines))
    found = events(manifest, readers, "msnbc", [tmp_path / "msnbc.zip"])
    assert found.n_users == 4
    assert found.users.tolist() == events(manifest, readers, "msnbc", [tmp_path / "msnbc.zip"]).users.tolist()
    assert np.bincount(found.user).min() >= 20


def test_minutes_by_level_and_hour_of_the_day(manifest, readers, tmp_path):
    head = "Id,ActivityHour," + ",".join(f"Intensity{i:02d}" for i in range(60))
    rows = [f"5,4/13/2016 {hour}:00," + ",".join(["0"] * 50 + ["3"] * 10) for hour in (0, 13)]
    found = events(manifest, readers, "fitbit", packed(tmp_path / "fitbit.csv.gz", "\n".join([head, *rows]) + "\n"))
    assert len(found.vocabulary) == 4
    assert sorted(found.amount.tolist()) == [10, 10, 50, 50]
    assert found.time.max() - found.time.min() == 13 * 3_600


def test_topics_of_synthetic_users(manifest, readers, tmp_path):
    text = b"nb_unique_domain\tt1\tt2\tt3\tt4\tt5\n12\t1\t2\t3\t4\t5\n9\t2\t3\t6\t7\t8\n"
    with tarfile.open(tmp_path / "users.csv.tar.gz", "w:gz") as made:
        member = tarfile.TarInfo("users.csv")
        member.size = len(text)
        made.addfile(member, io.BytesIO(text))
    found = events(manifest, readers, "topics-users", [tmp_path / "users.csv.tar.gz"])
    assert (found.n_users, len(found), len(found.vocabulary)) == (2, 10, 8)


@pytest.mark.parametrize("name", ["jha-real", "jha-crossover"])
def test_two_sites_from_rates(readers, manifest, name, tmp_path):
    rates = np.random.default_rng(0).exponential(2.0, (12, 9))
    paths = packed(tmp_path / "rates.csv.gz", "\n".join(",".join(f"{x:.3f}" for x in row) for row in rates) + "\n")
    sites = readers.READERS[name](paths, 12, 0)
    assert (len(sites.targets), len(sites.queries), sites.targets.n_epochs) == (12, 12, 30)
    assert sites.mechanism.n_tokens == 9


@pytest.mark.data
def test_the_check_ins_at_hand_are_those_of_the_manifest(readers, manifest, study_file):
    folder = study_file("foursquare_checkins/foursquare_train.csv.gz").parents[1]
    found = load(manifest.only(["foursquare"]).sets[0], folder, 1_000, 0, readers.READERS)
    assert (found.n_users, len(found), found.n_tokens) == (535, 95_372, 3_817)
