"""Published taxonomies are read as they are; damaged ones are refused in one line that names the line at fault."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reidrisk.base.errors import DataError, FormatError
from reidrisk.topics import Taxonomy

TABLE = """| ID  | Topic         |
| --- | ------------- |
| 9   | /News         |
| 2   | /News/Weather |
| 30  | /Sports       |
"""


@pytest.fixture
def published(study_file):
    return lambda name: Taxonomy.read(study_file(f"topics_taxonomy/{name}"))


def write(tmp_path: Path, text: str, name: str = "t.md") -> Path:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def test_a_table_and_a_json_list_say_the_same(tmp_path):
    from_table = Taxonomy.read(write(tmp_path, f"Some words.\n\n{TABLE}\nMore words | and a bar.\n"))
    entries = [{"topic_id": 30, "topic_label": "/Sports"}, {"topic_id": 2, "topic_label": "/News/Weather"},
               {"topic_id": 9, "topic_label": "/News"}]  # fmt: skip
    from_json = Taxonomy.read(write(tmp_path, json.dumps(entries), "t.json"))
    assert from_table == from_json
    assert hash(from_table) == hash(from_json)
    assert from_table.ids.tolist() == [2, 9, 30]
    assert from_table.vocabulary.labels == ("/News/Weather", "/News", "/Sports")
    assert (from_table.roots, from_table.parent(2), from_table.root(2), from_table.root(9)) == ((9, 30), 9, 9, 9)
    assert Taxonomy.read(write(tmp_path, TABLE.replace("\n", "\r\n"))) == from_table


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("| 1 | /News |\n| 1 | /Sports |\n", "line 4 gives id 1 again, after line 3"),
        ("| 1 | /News |\n| 2 | /News |\n", "line 4 gives '/News' again, after line 3"),
        ("| 1 | /News |\n| 2 | /Sports/Tennis |\n", "line 4 is '/Sports/Tennis', but its parent '/Sports' is not in"),
        ("", "there is no topic in the taxonomy"),
        ("| 1 | /News |\n| x | /Sports |\n", "line 4 is .*, not a row"),
        ("| 1 | /News |\nwords\n", "line 4 is 'words', not a row"),
        ("| 0 | /News |\n", "line 3 has the id 0; ids are whole numbers of at least 1"),
        ("| 1 | News |\n", "line 3 has the label 'News'; labels are paths"),
        ("| 1 | /News//Weather |\n", "line 3 has the label"),
        ("| 1 |  |\n", "line 3 has the label ''"),
    ],
)
def test_the_line_at_fault_is_named(tmp_path, rows, message):
    path = write(tmp_path, f"| ID | Topic |\n| --- | --- |\n{rows}")
    with pytest.raises((DataError, FormatError), match=message) as caught:
        Taxonomy.read(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [("[{", "this is not JSON"), ("{}", "holds a dict"), ("[1]", "entry 1 has no topic_id"), ("[]", "no topic"),
     ('[{"topic_id": true, "topic_label": "/A"}]', "entry 1 has the id True"),
     ('[{"topic_id": 1, "topic_label": null}]', "entry 1 has the label None")],
)  # fmt: skip
def test_bad_json_is_refused(tmp_path, text, message):
    with pytest.raises((DataError, FormatError), match=message):
        Taxonomy.read(write(tmp_path, text, "t.json"))


def test_files_that_are_no_taxonomy_are_refused(tmp_path):
    with pytest.raises(FormatError, match="there is no header"):
        Taxonomy.read(write(tmp_path, "nothing here\n"))
    with pytest.raises(FormatError, match="no such file"):
        Taxonomy.read(tmp_path / "missing.md")
    (tmp_path / "latin.md").write_bytes(b"\xff\xfe\xfa")
    with pytest.raises(FormatError, match="byte 0 is not UTF-8"):
        Taxonomy.read(tmp_path / "latin.md")


def test_it_cannot_be_changed():
    t = Taxonomy({1: "/News"})
    with pytest.raises(AttributeError):
        t.ids = np.array([2])
    with pytest.raises(AttributeError):
        t.extra = 1
    with pytest.raises(ValueError, match="read-only"):
        t.ids[0] = 2


def test_strange_ids_and_tokens_are_refused():
    t = Taxonomy({1: "/News", 5: "/Sports"})
    for call in (lambda: t.label(2), lambda: t.to_tokens([1, 2]), lambda: t.to_tokens(9), lambda: t.ancestors(True)):
        with pytest.raises(DataError, match="is not in the taxonomy of 2 topics, ids 1 to 5"):
            call()
    with pytest.raises(DataError, match=r"tokens must lie in \[-1, 2\)"):
        t.to_ids([2])
    with pytest.raises(DataError, match="whole numbers"):
        t.to_ids([0.5])
    assert t.to_tokens([]).tolist() == []


@st.composite
def trees(draw: st.DrawFn) -> dict[int, str]:
    """Ids in any order over a random tree."""
    ids = draw(st.lists(st.integers(1, 2000), min_size=1, max_size=30, unique=True))
    labels: list[str] = []
    for i in range(len(ids)):
        above = draw(st.sampled_from(["", *labels]))
        labels.append(f"{above}/T{i}")
    order = draw(st.permutations(range(len(ids))))
    return {ids[i]: labels[i] for i in order}


@given(trees())
def test_the_tree_is_one_and_tokens_and_ids_are_inverse(topics):
    t = Taxonomy(topics)
    assert len(t) == len(topics) == len(t.vocabulary)
    assert np.array_equal(t.to_tokens(t.to_ids(np.arange(-1, len(t)))), np.arange(-1, len(t)))
    assert sorted([*t.roots, *(c for i in topics for c in t.children(i))]) == sorted(topics)
    for topic, label in topics.items():
        assert t.vocabulary.labels[t.to_tokens(topic)] == label == t.label(topic)
        assert [t.label(a) for a in t.ancestors(topic)] == sorted(
            (other for other in topics.values() if label.startswith(f"{other}/")), key=len, reverse=True
        )
        assert t.root(topic) in t.roots


def test_columns_with_a_tab_between_are_a_table(tmp_path):
    text = "ID\tTopic\n1\t/News\n7\t/News/A | B, C\n"
    (tmp_path / "taxonomy.tsv").write_text(text)
    assert Taxonomy.read(tmp_path / "taxonomy.tsv") == Taxonomy({1: "/News", 7: "/News/A | B, C"})
    (tmp_path / "taxonomy.tsv").write_text(text + "8 /Sports\n")
    with pytest.raises(FormatError, match="line 4 is '8 /Sports', not a row of id and /path of the topic, with a tab"):
        Taxonomy.read(tmp_path / "taxonomy.tsv")


@pytest.mark.data
def test_chromes_own_file_is_version_2(study_file, published):
    assert Taxonomy.read(study_file("topics_chrome_model/chrome5/taxonomy.tsv")) == published("taxonomy_v2.md")


@pytest.mark.data
def test_version_1_is_as_published(published):
    t = published("taxonomy_v1.md")
    assert (len(t), len(t.roots), t.ids[0], t.ids[-1]) == (349, 24, 1, 349)
    assert t.label(8) == "/Arts & Entertainment/Humor/Live Comedy"
    assert t.ancestors(8) == (7, 1)
    # Without gaps, a token is the id less one: column j of the published rates is topic j + 1.
    assert np.array_equal(t.to_tokens(t.ids), t.ids - 1)


@pytest.mark.data
def test_version_2_is_as_published_in_both_formats(published):
    t = published("taxonomy_v2.md")
    assert t == published("google_research_taxonomy.json")
    assert (len(t), len(t.roots), t.ids[0], t.ids[-1]) == (469, 22, 1, 629)
    assert int(t.ids[-1]) - len(t) == 160


@pytest.mark.data
def test_the_versions_share_ids_but_not_all_labels(published):
    one, two = published("taxonomy_v1.md"), published("taxonomy_v2.md")
    shared = np.intersect1d(one.ids, two.ids).tolist()
    assert len(shared) == 189
    assert sum(one.label(i) != two.label(i) for i in shared) == 47
    assert one != two
    assert one.vocabulary != two.vocabulary
