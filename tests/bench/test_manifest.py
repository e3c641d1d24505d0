"""Data sets by description: what is read, what is left out and why."""

import gzip
import hashlib

import numpy as np
import polars as pl
import pytest

from reidrisk import bench
from reidrisk.base.errors import FormatError, OptionError
from reidrisk.bench.sources import load


def loaded(path, users=1_000, readers=None, name="shop"):
    found = bench.read_manifest(path)
    return load(found.only([name]).sets[0], found.folder, users, 0, readers or {})


def test_a_table_of_any_format_gives_the_same_events(manifest, frame, tmp_path):
    wanted = loaded(manifest())
    assert (wanted.n_users, len(wanted)) == (30, len(frame))
    frame.write_csv(tmp_path / "log.tsv", separator="\t")
    frame.write_parquet(tmp_path / "log.parquet")
    np.savez(
        tmp_path / "log.npz",
        **{name: frame[name].to_numpy().astype("U" if name != "day" else int) for name in frame.columns},
    )
    for kind in ("tsv", "parquet", "npz"):
        path = manifest(f'format = "{kind}"\n')
        path.write_text(path.read_text().replace("log.csv", f"log.{kind}"))
        found = loaded(path)
        assert found.vocabulary == wanted.vocabulary, kind
        assert (found.bags().counts != wanted.bags().counts).nnz == 0, kind
        np.testing.assert_array_equal(found.time, wanted.time)


def test_files_are_put_below_each_other(manifest, frame, tmp_path):
    frame[:100].write_csv(tmp_path / "one.csv")
    frame[100:].write_csv(tmp_path / "two.csv")
    path = manifest()
    path.write_text(path.read_text().replace('"log.csv" = ""', '"one.csv" = "", "two.csv" = ""'))
    assert len(loaded(path)) == len(frame)
    frame[100:].select("customer", "day").write_csv(tmp_path / "two.csv")
    assert loaded(path).code == "data-unreadable"


def test_people_are_cut_by_the_order_of_their_ids_and_drawn_with_the_seed(manifest):
    first, second = (loaded(manifest(f"people = {part}\n")) for part in ("[0.0, 0.5]", "[0.5, 1.0]"))
    assert first.users.to_pylist() == [f"c{i:02d}" for i in range(15)]
    assert second.users.to_pylist() == [f"c{i:02d}" for i in range(15, 30)]
    few = loaded(manifest(), users=10)
    assert few.n_users == 10
    assert few.users.to_pylist() == loaded(manifest(), users=10).users.to_pylist()
    assert len(few) == 10 * 24  # all events of each


def test_a_missing_file_and_one_with_another_checksum_are_left_out(manifest, frame, tmp_path):
    path = manifest()
    path.write_text(path.read_text().replace("log.csv", "gone.csv") + 'origin = "its authors"\n')
    note = loaded(path)
    assert (note.code, note["file"], note["origin"]) == ("data-missing", "gone.csv", "its authors")
    checksum = hashlib.sha256((tmp_path / "log.csv").read_bytes()).hexdigest()
    path = manifest()
    path.write_text(path.read_text().replace('"log.csv" = ""', f'"log.csv" = "{checksum}"'))
    assert loaded(path).n_users == 30
    packed = path.read_text().replace("log.csv", "log.csv.gz")
    path.write_text(packed)
    for level in (1, 9):  # packing is no part of the data
        (tmp_path / "log.csv.gz").write_bytes(gzip.compress((tmp_path / "log.csv").read_bytes(), level))
        assert loaded(path).n_users == 30
    (tmp_path / "log.csv.gz").write_bytes(gzip.compress(b"other"))
    assert (loaded(path).code, loaded(path)["file"]) == ("data-differs", "log.csv.gz")
    (tmp_path / "log.csv.gz").write_bytes(b"no gzip")
    assert loaded(path).code == "data-differs"


def test_a_format_of_ones_own_has_a_reader_of_ones_own(manifest):
    path = manifest('format = "odd"\n')
    note = loaded(path)
    assert (note.code, note["format"]) == ("data-format", "odd")
    frame = pl.DataFrame({"customer": [1, 2], "article": ["a", "b"], "day": [0, 1]})
    asked = []

    def odd(paths, users, seed):
        asked.append(([path.name for path in paths], users, seed))
        return frame

    assert loaded(path, readers={"odd": odd}).n_users == 2
    assert asked == [(["log.csv"], 1_000, 0)]


@pytest.mark.parametrize(
    "columns", ['user = "nobody"\n', 'user = "customer"\nitems = ["none"]\n', 'format = "parquet"\n']
)
def test_what_cannot_be_read_is_noted_with_the_reason(manifest, columns):
    note = loaded(manifest(columns=columns))
    assert (note.code, note["data"]) == ("data-unreadable", "shop")
    assert note["why"]


def test_the_folder_may_be_named_by_a_variable(manifest, tmp_path, monkeypatch):
    path = manifest()
    elsewhere = tmp_path / "elsewhere" / "manifest.toml"
    elsewhere.parent.mkdir()
    elsewhere.write_text('folder = "$OUR_DATA"\n' + path.read_text())
    assert loaded(elsewhere).code == "data-missing"
    monkeypatch.setenv("OUR_DATA", str(tmp_path))
    assert loaded(elsewhere).n_users == 30


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("[data.shop", "TOML"),
        ("", "[data.NAME]"),
        ("data = 3", "[data.NAME]"),
        ("[data]\nshop = 3", "data.shop"),
        ("colour = 3\n[data.shop]", "colour"),
        ("[data.shop]\ncolour = 3", "colour"),
        ('[data.shop]\nitems = "article"', "items"),
        ("[data.shop]\npeople = [0.5, 2.0]", "people"),
        ("[data.shop]\npeople = [0.5, 0.5]", "people"),
    ],
)
def test_a_bad_manifest_is_refused_in_one_line_that_names_the_key(tmp_path, text, named):
    path = tmp_path / "manifest.toml"
    path.write_text(text)
    with pytest.raises(FormatError) as refused:
        bench.read_manifest(path)
    assert str(path) in str(refused.value)
    assert named in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_data_set_that_is_not_there_cannot_be_chosen(manifest):
    with pytest.raises(OptionError, match=r"'bank'.*shop"):
        bench.read_manifest(manifest()).only(["bank"])
