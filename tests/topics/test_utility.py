"""Utility buckets are read as published, in all their forms, and steer the ranking of a browser."""

import pytest

from reidrisk.base.errors import DataError, FormatError
from reidrisk.topics import Browser, Taxonomy, read_utility_buckets

TAXONOMY = Taxonomy({1: "/News", 7: "/News/Weather", 4: "/Sports", 9: "/Arts, Crafts & more"})
ROWS = [("/News", "Standard"), ("/Arts, Crafts & more", "High"), ("/Sports", "High")]
FORMS = {
    "markdown": "Buckets of v2.\n\n| Top-Level Topics | Utility Buckets |\n|---|---|\n"
    + "".join(f"| {label} | {bucket} |\n" for label, bucket in ROWS)
    + "\nThat is all.\n",
    "tabs": "Top-Level Topics\tUtility Buckets\n" + "".join(f"{label}\t{bucket}\n" for label, bucket in ROWS),
    "commas": "Top-Level Topics,Utility Buckets\r\n" + "".join(f'"{label}",{bucket}\r\n' for label, bucket in ROWS),
}


@pytest.mark.parametrize("form", FORMS)
def test_the_published_forms_give_the_same_roots(form, tmp_path):
    file = tmp_path / "buckets"
    file.write_bytes(FORMS[form].encode())
    buckets = read_utility_buckets(file, TAXONOMY)
    assert buckets == ((4, 9), (1,))
    browser = Browser(TAXONOMY, top_k=2, high_utility=buckets.high)
    for second in range(3):
        browser.visit(second, [7], ["ads.example"])
    browser.visit(5, [4], ["ads.example"])
    browser.topics(8 * 86_400, "shop.example", "ads.example")
    assert browser.epochs[-1].topics == (4, 7)  # one visit of a high tree before three of a standard one


@pytest.mark.parametrize(
    ("text", "message"),
    [("", "no header"), ("/News\tHigh\n", "no header"), ("{h}/News\tLow\n", "line 2 has the bucket 'Low'"),
     ("{h}/Cars\tHigh\n", "line 2 names '/Cars', which is no root"),
     ("{h}/News/Weather\tHigh\n", "line 2 names '/News/Weather', which is no root"),
     ("{h}/News\tHigh\n/News\tHigh\n", "line 3 gives '/News' a bucket again"),
     ("{h}/News\tHigh\n", "the root '/Sports' has no bucket"), ("{h}/News\n", "line 2 is '/News'")],
)  # fmt: skip
def test_bad_files_are_one_clear_line(text, message, tmp_path):
    file = tmp_path / "buckets.tsv"
    file.write_text(text.replace("{h}", "Top-Level Topics\tUtility Buckets\n"))
    with pytest.raises((DataError, FormatError), match=message) as caught:
        read_utility_buckets(file, TAXONOMY)
    assert str(file) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_files_that_are_none_are_refused(tmp_path):
    with pytest.raises(FormatError, match="there is no such file"):
        read_utility_buckets(tmp_path / "nothing.tsv", TAXONOMY)
    (tmp_path / "bytes.tsv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(FormatError, match="not UTF-8"):
        read_utility_buckets(tmp_path / "bytes.tsv", TAXONOMY)


@pytest.mark.data
def test_chromes_file_and_the_specification_say_the_same(study_file):
    chrome = study_file("topics_chrome_model/chrome5/utility_buckets.tsv")
    specification = study_file("topics_taxonomy/topics-utility-buckets-v1.md")
    taxonomy = Taxonomy.read(study_file("topics_taxonomy/taxonomy_v2.md"))
    buckets = read_utility_buckets(chrome, taxonomy)
    assert buckets == read_utility_buckets(specification, taxonomy)
    assert (len(buckets.high), len(buckets.standard)) == (15, 7)
    assert taxonomy.label(buckets.high[0]) == "/Autos & Vehicles"
