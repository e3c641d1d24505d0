"""The report as text: its sections, what it may not hold, and every case it must be able to show."""

from __future__ import annotations

import dataclasses
import functools
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("altair")
pytest.importorskip("vl_convert")
pytest.importorskip("jinja2")

import examples

from reidrisk import report
from reidrisk.errors import MissingExtraError, ReidRiskError

SECTIONS = ("verdict", "growth", "bounds", "exposed", "sure", "perspective", "assumed", "untold", "methods")

pytestmark = pytest.mark.xdist_group("report")


@functools.cache
def rendered(case: str) -> str:
    return report.render(examples.CASES[case])


class Reader(HTMLParser):
    """Collects what a browser would see: tags with their attributes, and text by line outside of scripts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.lines: list[str] = []
        self.data: list[str] = []
        self._open: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag in ("script", "style", "noscript"):
            self._open.append(tag)
        elif tag not in ("strong", "span", "em", "code"):
            self.lines.append("")

    def handle_endtag(self, tag: str) -> None:
        if self._open and self._open[-1] == tag:
            self._open.pop()

    def handle_data(self, data: str) -> None:
        if not self._open:
            self.lines = [*self.lines[:-1], (self.lines[-1] if self.lines else "") + data]
        elif self._open[-1] == "script":
            self.data.append(data)

    @property
    def text(self) -> str:
        return re.sub(r"\s+", " ", " ".join(self.lines))


@pytest.mark.parametrize("case", examples.CASES)
def test_every_case_has_all_sections_and_figures_with_words_and_numbers(case: str) -> None:
    page = Reader(rendered(case))
    ids = [attributes["id"] for tag, attributes in page.tags if tag == "section"]
    assert ids == list(SECTIONS)
    charts = [attributes for _, attributes in page.tags if attributes.get("class") == "chart"]
    assert charts
    assert all(chart["role"] == "img" and len(chart["aria-label"] or "") > 20 for chart in charts)
    assert sum(attributes.get("class") == "see" for _, attributes in page.tags) == len(charts)
    assert sum(attributes.get("class") == "caution" for _, attributes in page.tags) == len(charts)
    specs = json.loads(next(data for data in page.data if data.startswith('{"')))
    assert set(specs) == {chart["data-chart"] for chart in charts}
    assert not re.search(r"\b(nan|inf|None)\b", page.text)


@pytest.mark.parametrize("case", examples.CASES)
def test_percentages_and_frequencies_are_not_mixed_in_one_line(case: str) -> None:
    for line in Reader(rendered(case)).lines:
        for sentence in re.split(r"(?<=[.:]) ", line):
            assert not ("%" in sentence and re.search(r"\d in \d", sentence)), line


def test_nothing_is_fetched_from_anywhere() -> None:
    page = rendered("normal")
    reader = Reader(page)
    assert not [tag for tag, attributes in reader.tags if {"src", "srcset", "action", "data"} & set(attributes)]
    assert not [tag for tag, _ in reader.tags if tag in ("link", "iframe", "object", "embed", "form")]
    links = [attributes["href"] for tag, attributes in reader.tags if tag == "a"]
    assert links
    assert all(link and link.startswith("#") for link in links)
    policy = next(a["content"] for _, a in reader.tags if a.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe-eval" not in policy
    assert "url(" not in page[: page.index("</style>")]
    assert 0.5e6 < len(page.encode()) < 1.5e6


def test_hostile_names_stay_text() -> None:
    page = rendered("hostile")
    reader = Reader(page)
    assert "alert(1)" in reader.text
    assert "{{ 7*7 }}" in reader.text
    assert "<script>alert" not in page
    assert not [attributes for tag, attributes in reader.tags if tag == "img" or "onerror" in attributes]
    assert sum(tag == "script" for tag, _ in reader.tags) == 3


def test_risks_of_single_people_stay_out() -> None:
    result = examples.published()
    secret = np.full(20_000, 0.123456789)
    risks = tuple(dataclasses.replace(risk, per_user=secret) for risk in result.risks)
    page = report.render(dataclasses.replace(result, risks=risks))
    assert "0.123456789" not in page
    assert "per_user" not in page
    assert page == rendered("normal")


def test_the_verdict_comes_first_in_natural_frequencies_with_three_tiles() -> None:
    page = rendered("normal")
    assert '<strong class="kept">4.2 in 100</strong> people correctly' in page
    text = Reader(page).text
    assert text.index("The verdict") < text.index("How it grows")
    for words in ("Correct links", "3.8 to 4.6 in 100", "Wrong links", "96 in 100", "No answer", "none"):
        assert words in text


@pytest.mark.parametrize(
    ("case", "mood", "words"),
    [
        ("like guessing", "calm", "Good news"),
        ("zero rate", "calm", "Good news"),
        ("one epoch, bounds", "calm", "Good news: even at the upper end"),
        ("four people", "unsure", "too few records"),
        ("normal", "plain", "Measured on 20,000 of 100,000 records"),
        ("rate 1", "plain", "100 in 100"),
        ("no truth", "unsure", "At least 90 in 100 sure"),
    ],
)
def test_low_risk_is_good_news_and_little_data_is_not(case: str, mood: str, words: str) -> None:
    page = rendered(case)
    assert f'class="verdict {mood}"' in page
    assert words in Reader(page).text
    assert ("Good news" in page) == (mood == "calm")


@pytest.mark.parametrize(
    ("case", "answer", "words"),
    [
        ("gate passes", "pass", "within the limit"),
        ("gate fails", "fail", "above the limit"),
        ("gate undecided", "undecided", "straddles the limit"),
        ("gate of zero", "fail", "The limit given is no one."),
        ("gate without truth", "undecided", "The limit given is 3 in 100 people. Without known pairs"),
    ],
)
def test_the_gate_is_answered(case: str, answer: str, words: str) -> None:
    page = rendered(case)
    assert f'class="gate {answer}"' in page
    assert words in Reader(page).text
    assert 'class="gate' not in rendered("normal")


def test_without_truth_it_says_why_and_gives_no_rate() -> None:
    text = Reader(rendered("no truth")).text
    assert "Who is exposed cannot be said" in text
    assert "Correct links" not in text
    assert "links are right" in text
    empty = Reader(rendered("no truth, no probabilities, no bounds")).text
    assert "no rate and no bound to draw" in empty
    assert "give no probabilities" in empty


def test_bounds_are_listed_with_the_tightest_and_the_silent_ones() -> None:
    text = Reader(rendered("normal")).text
    for words in ("carey, Lemma 3", "tightest", "says nothing here", "epsilon 7.2", "Epochs are protected"):
        assert words in text
    assert "so also who links them one at a time" in Reader(rendered("only matching bounds")).text
    assert "No bound could be computed" in Reader(rendered("no bounds")).text
    assert "no bound excludes anything" in Reader(rendered("no bound says anything")).text


def test_groups_too_small_are_mentioned_and_not_shown() -> None:
    assert "1 group is not shown: fewer than 20 people" in Reader(rendered("normal")).text
    text = Reader(rendered("one epoch, one attack")).text
    assert "No group is large enough" in text
    assert "3 groups are not shown" in text


def test_published_figures_stand_beside_topics_only_and_with_their_sizes() -> None:
    text = Reader(rendered("normal")).text
    assert "10 million people, 8 epochs" in text
    assert "below 3 in 100" in text
    assert "10 million" not in Reader(rendered("another system")).text


def test_it_can_be_run_again_from_the_page() -> None:
    page = rendered("normal")
    text = Reader(page).text
    assert "reidrisk audit --spec spec.json" in text
    assert '"seed": 7' in text
    assert "Weighs each agreement by its rarity." in text


def test_the_file_is_written_in_one_step(tmp_path: Path) -> None:
    report.write(examples.CASES["normal"], tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == rendered("normal")
    with pytest.raises(ReidRiskError, match="does not exist"):
        report.write(examples.CASES["normal"], tmp_path / "missing" / "report.html")
    assert [file.name for file in tmp_path.iterdir()] == ["report.html"]


def test_without_the_extra_one_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "altair", None)
    with pytest.raises(MissingExtraError, match=r'pip install "reidrisk\[report\]"'):
        report.charts.growth(examples.CASES["normal"])
