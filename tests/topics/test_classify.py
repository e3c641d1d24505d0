"""Hosts get the topics of the list, of their nearest listed ancestor, or are counted as what they are."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reidrisk.base.errors import DataError, FormatError, OptionError
from reidrisk.topics import HostClassifier, Taxonomy

TAXONOMY = Taxonomy({1: "/News", 7: "/News/Weather", 40: "/Sports"})
LIST = (
    "domain\ttopics\nfor testing only 123\t1,2,3\nfor testing only empty\n"
    "rain com\t7,1\nclub rain com\t40\nempty org\nalso empty org\t\nxn  caf dma com\t1\nmy shop co uk\t40\n"
)


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "override_list.tsv"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def classifier(tmp_path):
    return HostClassifier.from_override_list(write(tmp_path, LIST), TAXONOMY)


@pytest.mark.parametrize(
    ("host", "topics"),
    [
        ("rain.com", (7, 1)),
        ("www.rain.com", (7, 1)),
        ("a.b.c.rain.com", (7, 1)),
        ("club.rain.com", (40,)),
        ("www.club.rain.com", (40,)),
        ("club-rain.com", (40,)),  # blanks in the list stand for dots and hyphens alike
        ("my-shop.co.uk", (40,)),
        ("co.uk", None),
        ("empty.org", ()),
        ("sub.empty.org", ()),
        ("also-empty.org", ()),
        ("train.com", None),
        ("rain.com.evil.net", None),
        ("com", None),
        ("RAIN.com.", (7, 1)),
        ("xn--caf-dma.com", (1,)),
        ("café.com", (1,)),
        ("for-testing.only.123x", None),
    ],
)
def test_the_nearest_listed_name_decides(classifier, host, topics):
    assert classifier.classify([host])[0] == topics


def test_an_empty_list_stops_the_search(tmp_path):
    c = HostClassifier.from_override_list(write(tmp_path, "domain\ttopics\na com\t1\nb a com\n"), TAXONOMY)
    assert list(c.classify(["x.b.a.com", "c.a.com"])) == [(), (1,)]


def test_testing_rows_are_dropped_even_with_ids_the_taxonomy_lacks(classifier):
    assert len(classifier) == 6
    assert classifier.classify(["for.testing.only.empty"])[0] is None


def test_without_ancestors_only_a_leading_www_is_dropped(tmp_path):
    c = HostClassifier.from_override_list(write(tmp_path, LIST), TAXONOMY, ancestors=False)
    assert list(c.classify(["www.rain.com", "m.rain.com", "www.www.rain.com"])) == [(7, 1), None, None]


def test_counts_add_up_and_are_always_shown(classifier):
    hosts = ["www.rain.com", "rain.com", "rain.com", "empty.org", "other.net", "10.0.0.1", None]
    found = classifier.classify(hosts, invalid="count")
    c = found.coverage
    assert (c.n, c.topics, c.no_topic, c.unknown, c.not_a_host, c.by_ancestor) == (7, 3, 1, 1, 2, 1)
    assert sum(c.shares.values()) == pytest.approx(1.0)
    assert (found.distinct.n, found.distinct.topics) == (6, 2)
    assert "42.9% topics, 14.3% no topic, 14.3% unknown, 28.6% not a host" in repr(found)
    assert json.loads(json.dumps(c.to_dict()))["shares"]["unknown"] == pytest.approx(1 / 7)
    assert found.status.tolist() == [0, 0, 0, 1, 2, 3, 3]
    assert found[-1] is None
    assert classifier.classify([]).coverage.shares["unknown"] == 0.0


@pytest.mark.parametrize(
    ("value", "fault"),
    [("", "empty"), (None, "empty"), ("rain com", "blanks"), (" rain.com", "blanks"), ("https://rain.com", "scheme"),
     ("rain.com/x", "more than a host"), ("me@rain.com", "more than a host"), ("rain.com:80", "port"), ("[::1]", "IP"),
     ("::1", "IP address"), ("192.168.0.1", "IP address"), ("1.2.3", "IP address"), ("a.0x7f", "IP address"),
     ("a..com", "well-formed"), ("-a.com", "well-formed"), ("a-.com", "well-formed"),
     (f"{'a' * 64}.com", "well-formed"), (".".join(["abcdefghi"] * 30), "well-formed"), ("a,b.com", "well-formed"),
     (f"{'é' * 70}.com", "ASCII"), (".", "well-formed")],
)  # fmt: skip
def test_what_is_not_a_host_is_refused_with_its_position(classifier, value, fault):
    with pytest.raises(DataError, match=rf"value 1 is .*{fault}") as caught:
        classifier.classify(["rain.com", value])
    assert "\n" not in str(caught.value)
    assert classifier.classify(["rain.com", value], invalid="count").coverage.not_a_host == 1


def test_columns_of_any_kind_are_the_same(classifier):
    import polars as pl

    hosts = ["a.rain.com", "empty.org", "x.net", "a.rain.com"]
    want = list(classifier.classify(hosts))
    arrow = (pa.array(hosts), pa.chunked_array([hosts[:1], hosts[1:]]), pa.array(hosts).dictionary_encode())
    for column in (np.array(hosts), np.array(hosts, dtype=object), *arrow, pl.Series(hosts), tuple(hosts)):
        assert list(classifier.classify(column)) == want


def test_what_is_no_column_of_text_is_refused(classifier):
    for wrong in ("rain.com", [1, 2], 7):
        with pytest.raises(DataError, match="hosts"):
            classifier.classify(wrong)
    with pytest.raises(OptionError, match="one of refuse, count"):
        classifier.classify([], invalid="drop")


@given(
    st.lists(
        st.text(st.characters(codec="utf-8"), max_size=20) | st.sampled_from(["rain.com", "a.rain.com", "empty.org"])
    )
)
def test_any_text_gets_the_answer_of_one_host_alone(values):
    c = HostClassifier(TAXONOMY, {"rain.com": [7], "empty.org": []})
    found = c.classify(values, invalid="count")
    alone = [c.classify([value], invalid="count") for value in values]
    assert list(found) == [one[0] for one in alone]
    assert found.coverage.n == len(values) == sum(np.bincount(found.status, minlength=4))
    assert found.tokens.tolist() == [token for one in alone for token in one.tokens.tolist()]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1 is ''; the header of an override list"),
        ("rain com\t7\n", "the header of an override list is"),
        ("domain\ttopics\n", "there is no domain in the list"),
        ("domain\ttopics\nfor testing only empty\n", "there is no domain in the list"),
        ("domain\ttopics\nrain com\t7;1\n", "line 2 has the topics '7;1'"),
        ("domain\ttopics\nrain com\t7\nsnow com\t8\n", "line 3: topic id 8 is not in the taxonomy of 3 topics"),
        ("domain\ttopics\nrain com\t7\nrain com\t1\n", "line 3 has the domain 'rain com' again"),
        ("domain\ttopics\nrain com\t7\n\nsnow com\t1\n", "line 3 has the domain ''"),
        ("domain\ttopics\nRain com\t7\n", "line 2 has the domain 'Rain com'"),
        ("domain\ttopics\nrain com\t7,7\n", "line 2 names a topic twice"),
        ("domain\ttopics\nrain\t7\n", "line 2 has the domain 'rain'"),
    ],
)
def test_bad_lists_are_refused_with_the_line(tmp_path, text, message):
    path = write(tmp_path, text)
    with pytest.raises((DataError, FormatError), match=message) as caught:
        HostClassifier.from_override_list(path, TAXONOMY)
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)


def test_a_binary_file_is_refused(tmp_path):
    (tmp_path / "model").write_bytes(b"\xff\x00\xfe")
    with pytest.raises(FormatError, match="byte 0 is not UTF-8"):
        HostClassifier.from_override_list(tmp_path / "model", TAXONOMY)


@pytest.mark.data
@pytest.mark.parametrize(
    ("folder", "version", "domains", "empty"), [("chrome1", 1, 9_252, 1_343), ("chrome5", 2, 45_268, 7_637)]
)
def test_the_published_lists_are_read_whole(study_file, folder, version, domains, empty):
    taxonomy = Taxonomy.read(study_file(f"topics_taxonomy/taxonomy_v{version}.md"))
    listed = study_file(f"topics_chrome_model/{folder}/override_list.tsv")
    c = HostClassifier.from_override_list(listed, taxonomy)
    assert len(c) == domains  # two more rows are for testing only
    lines = listed.read_text().splitlines()[1:]
    rows = [line.split("\t") for line in lines if not line.startswith("for testing only")]
    # Two blanks in a row stand for the two hyphens of a name in another script.
    hosts = [row[0].replace("xn  ", "xn--").replace(" ", ".") for row in rows]
    well_formed = [i for i, host in enumerate(hosts) if ".." not in host and "   " not in rows[i][0]]
    found = c.classify([hosts[i] for i in well_formed], invalid="count")
    assert found.coverage.by_ancestor == 0
    assert found.coverage.not_a_host == 0
    for answer, i in zip(found, well_formed, strict=True):
        assert answer == tuple(int(topic) for topic in (rows[i][1].split(",") if len(rows[i]) > 1 else []))
    assert sum(len(row) < 2 for row in rows) == empty
    assert len(well_formed) > 0.99 * domains
