"""Taxonomies are read from what people have, and what is wrong with one is one line."""

import json

import pytest

from reidrisk.base.errors import ReidRiskError
from reidrisk.io import read_taxonomy
from reidrisk.io.taxonomy import roots


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", "item,parent\nrum,spirits\ngin,spirits\nspirits,drinks\n"),
        ("a.csv", '"rum";"spirits"\r\ngin;spirits\r\n\r\nspirits;drinks\r\n'),
        ("a.tsv", "rum\tspirits\ngin\tspirits\nspirits\tdrinks"),
        ("a.json", json.dumps({"rum": "spirits", "gin": "spirits", "spirits": "drinks"})),
    ],
)
def test_a_taxonomy_is_read(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text)
    found = read_taxonomy(path)
    assert found == {"rum": "spirits", "gin": "spirits", "spirits": "drinks"}
    assert set(roots(found).values()) == {"drinks"}


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.csv", "rum,spirits\nrum,drinks\n", "'rum' has two parents, 'spirits' and 'drinks'"),
        ("a.csv", "rum\n", "line 1 has no label and parent"),
        ("a.csv", "rum,\n", "line 1 has no label and parent"),
        ("a.csv", "", "there is no label in it"),
        ("a.csv", "a,b\nb,c\nc,a\n", "again and again"),
        ("a.json", "[1, 2]", "an object from labels"),
        ("a.json", '{"rum": 3}', "an object from labels"),
        ("a.json", "{", "not JSON"),
    ],
)
def test_what_is_no_taxonomy_is_refused_in_one_line(tmp_path, name, text, said):
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(ReidRiskError) as error:
        read_taxonomy(path)
    assert said in str(error.value)
    assert "\n" not in str(error.value)
