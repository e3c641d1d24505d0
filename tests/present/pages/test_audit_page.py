"""The report as text: its sections, what it may not hold, and every case it must be able to show."""

from __future__ import annotations

import dataclasses
import functools
import io
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("altair")
pytest.importorskip("vl_convert")
pytest.importorskip("jinja2")

import examples
from rich.console import Console

from reidrisk import measure, present
from reidrisk.audit import AuditResult, TruthDoubt, gate
from reidrisk.base.errors import MissingExtraError, ReidRiskError
from reidrisk.base.notes import Note
from reidrisk.base.results import Bound
from reidrisk.measure import Exposure
from reidrisk.present import Section, Table, Terms
from reidrisk.present.console import parts_of, print_page
from reidrisk.present.pages import audit

SECTIONS = ("verdict", "growth", "bounds", "exposed", "sure", "perspective", "assumed", "untold", "methods")


@functools.cache
def rendered(case: str) -> str:
    return present.render(examples.CASES[case])


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
    assert sum(attributes.get("class") == "see" for _, attributes in page.tags) >= len(charts)
    assert sum(attributes.get("class") == "caution" for _, attributes in page.tags) >= len(charts)
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
    page = present.render(dataclasses.replace(result, risks=risks))
    assert "0.123456789" not in page
    assert "per_user" not in page
    assert page == rendered("normal")


def test_the_verdict_comes_first_in_natural_frequencies_with_three_tiles() -> None:
    page = rendered("normal")
    assert '<strong class="kept">4.2 in 100</strong> people correctly' in page
    text = Reader(page).text
    assert text.index("The verdict") < text.index("What no attacker can beat")
    for words in ("Correct links", "3.8 to 4.6 in 100", "Wrong links", "96 in 100", "No answer", "none"):
        assert words in text


@pytest.mark.parametrize(
    ("case", "mood", "words"),
    [
        ("like guessing", "calm", "Good news"),
        ("zero rate", "calm", "Good news"),
        ("one epoch, bounds", "calm", "Good news: even at the upper end"),
        ("four people", "unsure", "too few records"),
        ("two people", "unsure", "too few people to tell: only 2 people"),
        ("one person", "unsure", "too few records"),
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
        ("gate of zero", "fail", "The limit given is nobody."),
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
    assert "it stated 95 in 100 on average there, and 94 in 100 (92 to 96 in 100) were right" in text  # the check
    unsaid = Reader(rendered("no truth, nothing confirmed")).text
    assert "were not confirmed" in unsaid
    assert "in 100 sure" not in unsaid
    empty = Reader(rendered("no truth, no probabilities, no bounds")).text
    assert "no rate and no bound to draw" in empty
    assert "give no probabilities" in empty


def test_bounds_are_listed_with_the_tightest_and_the_silent_ones() -> None:
    text = Reader(rendered("normal")).text
    for words in ("carey, Lemma 3", "tightest", "says nothing here", "epsilon 7.2", "is independent between"):
        assert words in text
    assert "so also one who links them singly" in Reader(rendered("only matching bounds")).text
    assert "No bound could be computed" in Reader(rendered("no bounds")).text
    assert "no bound excludes anything" in Reader(rendered("no bound says anything")).text


def test_groups_too_small_are_mentioned_and_not_shown() -> None:
    assert "1 group is left out: the numbers would tell of fewer than 20 people." in Reader(rendered("normal")).text
    text = Reader(rendered("one epoch, one attack")).text
    assert "All groups are left out: the numbers would tell of fewer than 20 people." in text


def exposed(*, n: int, histogram: tuple, above: dict[str, float], **changes: Any) -> str:
    found = Exposure(n, above, histogram, (), 20, 0)
    return Reader(present.render(examples.one_rate(0.97, 0.84, 0.999, n=n, exposure=found, **changes))).text


def test_of_few_people_no_spread_is_shown_and_no_share_of_a_few_is_hinted_at() -> None:
    four = exposed(n=4, histogram=((0.0, 1.0, 1.0),), above={})
    assert "How the risk is spread is left out" in four
    assert "There are no groups to compare" in four
    many = exposed(n=33, histogram=((0.0, 1.0, 1.0),), above={})
    assert "wherever a line is drawn between higher and lower risk, fewer than 20 people are on one side" in many
    for text in (four, many):
        for wrong in ("first bar", "any risk", "fewer than 20 people are found", "a risk below 100 %"):
            assert wrong not in text


def test_joined_bars_are_named_by_what_they_hold() -> None:
    text = exposed(n=60, histogram=((0.0, 0.5, 0.4), (0.5, 1.0, 0.6)), above={"50": 0.6})
    assert "40 % of people have a risk of at most 50 %, and 60 % one above 50 %." in text


def test_without_ties_people_were_found_or_not() -> None:
    bars = ((0.0, 0.001, 0.47), (0.001, 0.5, 0.0), (0.5, 0.9, 0.0), (0.9, 1.0, 0.53))
    text = exposed(n=268, histogram=bars, above={"1": 0.53, "10": 0.53, "50": 0.53, "90": 0.53})
    assert "Hamming at 1 week linked 53 % of people correctly and 47 % not; nobody is in between." in text
    assert "Linked correctly 53 % 47 % to 59 %" in text
    assert "above 50 %" not in text


def test_a_choosy_attacker_is_described_with_intervals() -> None:
    curve = measure.choosiness(np.full(200, 0.95), np.r_[np.ones(200)])
    text = Reader(present.render(examples.published(choosiness=curve))).text
    assert (
        "it is right for 100 in 100 (98 to 100 in 100) of all records and wrong for no record (0 to 1.8 in 100)" in text
    )
    assert "of its answers, 100 in 100 (98 to 100 in 100) are right" in text
    assert "none records" not in text
    silent = measure.choosiness(np.full(200, 0.5), np.ones(200))
    assert (
        "by its own reckoning, it never answers." in Reader(present.render(examples.published(choosiness=silent))).text
    )
    only = measure.choosiness(np.array([0.3, 0.95]), np.ones(2))[:1]
    text = Reader(present.render(examples.published(choosiness=only))).text
    assert "This is left out: wherever a line is drawn between surer and less sure answers" in text


def test_no_wrong_link_has_an_interval_too() -> None:
    tile = Reader(rendered("rate 1")).text
    assert "Wrong links none 0 to 3 in 100" in tile


def test_a_threshold_is_not_printed_like_a_risk() -> None:
    nobody = (dataclasses.replace(examples.choosiness(truth=False)[12], answered=0.0),)
    page = present.render(examples.no_truth(choosiness=nobody))
    assert '<strong class="kept">' not in page
    some = (dataclasses.replace(nobody[0], answered=0.12),)
    assert '<strong class="kept">12 in 100</strong>' in present.render(examples.no_truth(choosiness=some))


def test_the_strongest_attack_that_did_not_run_is_named_at_the_top() -> None:
    words = "Profile Bayes was not run: there was not enough time to try it on enough people."
    whole = examples.published()
    note = Note("attack-not-run", attack="profile-bayes", why="time")
    assert audit.page(dataclasses.replace(whole, notes=(*whole.notes, note))).first[0].startswith(words)
    assert audit.page(whole).first == ()


def test_tables_in_memory_are_neither_called_simulated_nor_said_to_run_from_a_file() -> None:
    page = present.render(examples.published(spec=examples.published().spec | {"inputs": {"kind": "memory"}}))
    text = Reader(page).text
    assert "100,000 records linked to 100,000 over 8 weeks" in text
    assert "simulated people" not in text
    assert "reidrisk audit --spec" not in text


def test_a_model_that_was_exceeded_is_marked_where_it_stands() -> None:
    model = Bound(
        "partial information",
        "random user",
        0.02,
        1e-5,
        "carey, Lemma 2",
        n_epochs=8,
        within_model=True,
        low=0.019,
        high=0.021,
    )
    page = present.render(examples.published(bounds=(*examples.bounds(), model)))
    assert page.count("exceeded here</span>") == 1
    assert "an attack exceeded it here" in Reader(page).text
    kept = present.render(examples.published(bounds=(*examples.bounds(), dataclasses.replace(model, high=0.5))))
    assert "exceeded here</span>" not in kept


def test_an_undecided_gate_says_what_could_decide() -> None:
    sampled = Reader(rendered("gate undecided")).text
    assert "score more records to decide" in sampled
    risk = dataclasses.replace(examples.risk("Hamming", 1, 0.5), everyone=True)
    everyone = examples.one_rate(0.5, 0.45, 0.55, risks=(risk,))
    text = Reader(present.render(dataclasses.replace(everyone, gate=gate(everyone, 0.5)))).text
    assert "all records were scored: only data of more people can decide" in text
    assert "score more" not in text


def test_published_figures_stand_beside_topics_only_and_with_their_sizes() -> None:
    text = Reader(rendered("normal")).text
    assert "10 million people, 8 weeks" in text
    assert "below 3 in 100" in text
    assert "10 million" not in Reader(rendered("another system")).text


def test_it_can_be_run_again_from_the_page() -> None:
    page = rendered("normal")
    text = Reader(page).text
    assert "reidrisk audit --spec spec.json" in text
    assert '"seed": 7' in text
    assert "Weighs each agreement by its rarity." in text


def test_the_file_is_written_in_one_step(tmp_path: Path) -> None:
    present.write(examples.CASES["normal"], tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == rendered("normal")
    (tmp_path / "file").write_text("")
    with pytest.raises(ReidRiskError, match="file"):
        present.write(examples.CASES["normal"], tmp_path / "file" / "report.html")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["file", "report.html"]


def test_without_the_extra_one_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "altair", None)
    with pytest.raises(MissingExtraError, match=r'pip install "\.\[report\]"'):
        present.chart(examples.CASES["normal"], "growth")


def test_the_page_speaks_of_the_strongest_row_whatever_its_epochs() -> None:
    """At two epochs more people are found than at eight: verdict, tiles and perspective are about the two."""
    rates = dict(zip(examples.COUNTS, (0.1, 0.92, 0.7, 0.58), strict=True))
    risks = tuple(examples.risk("Hamming", r, rate, high=rate + 0.02, low=rate - 0.02) for r, rate in rates.items())
    result = examples.published(risks=risks, differences=(), bounds=())
    text = Reader(present.render(result)).text
    assert "Correct links 92 in 100 90 to 94 in 100; Hamming, 2 weeks" in text
    assert "the strongest attack tried, over 2 weeks of 8" in text
    assert "This data (100,000 people, 2 weeks) 92 in 100" in text
    assert "Hamming links 10 in 100 people after 1 week, 92 in 100 people after 2 and 58 in 100 people after 8." in text


def test_a_truth_in_doubt_is_never_good_news() -> None:
    doubt = TruthDoubt("Hamming", 1, 500, 60, 1.0, 0.88)
    page = present.render(examples.one_rate(0.00001, 0.0, 0.00002, truth_check="doubt", truth_doubt=doubt))
    assert "Good news" not in page
    assert 'class="verdict unsure"' in page


@pytest.mark.parametrize("case", ["normal", "another system", "no truth", "only matching bounds"])
def test_a_data_protection_officer_never_reads_the_words_of_the_code(case: str) -> None:
    page = present.page(examples.CASES[case])
    said = [*page.facts, *page.news, *page.first, page.subject, str(page.verdict), page.footer]
    for section in [*page.sections, *(part for one in page.sections for part in one.parts)]:
        tables = [section.table, section.figure and section.figure.numbers]
        cells = [str(cell) for table in tables if table for row in (table.columns, *table.rows) for cell in row]
        if section.title == "The bounds":  # in the methods, with their references
            cells = [cell for cell in cells if "carey" not in cell]
        said += [
            section.title,
            *section.paragraphs,
            section.caution,
            *cells,
            section.figure.alt if section.figure else "",
        ]
    for text in said:
        assert not re.search(r"\b(token|epoch|quer|target|Lemma)", text), text
    assert ("week" in " ".join(said)) == (case != "another system")


def test_a_section_is_added_by_one_function_and_shows_in_console_and_html(monkeypatch: pytest.MonkeyPatch) -> None:
    def sizes(result: AuditResult, terms: Terms) -> Section:
        """In less than ten lines: what to see, and a table of it."""
        return Section(
            "How much was read",
            see=f"Two tables of {terms.records} were read.",
            table=Table(("side", terms.records), (("known", f"{result.n_targets:,}"),), (1,)),
            console=True,
        )

    monkeypatch.setattr(audit, "SECTIONS", [sizes, *audit.SECTIONS])
    result = examples.CASES["normal"]
    out = io.StringIO()
    print_page(present.page(result), Console(file=out, width=110))
    text = Reader(present.render(result)).text
    for words in ("How much was read", "Two tables of records were read.", "100,000"):
        assert words in out.getvalue()
        assert words in text
    assert text.index("How much was read") < text.index("How it grows")


def test_a_terminal_shows_one_table_and_of_bounds_and_assumptions_the_sentences() -> None:
    out = io.StringIO()
    print_page(present.page(examples.CASES["normal"]), Console(file=out, width=110))
    shown = out.getvalue()
    assert shown.count("┏") == 1
    assert "Tightest bound:" in shown
    assert "What no attacker can beat:\nAt 8 weeks the tightest bound" in shown
    assert "\n- The attacker has these records and nothing else" in shown
    for words in ("says nothing here", "letter", "With any further source"):
        assert words not in shown


def test_growth_begins_with_what_the_strongest_attack_gains() -> None:
    assert (
        "See how much an attacker gains: Weighted Hamming, the strongest attack tried, links 12 in 100,000 people "
        "after 1 week and 4.2 in 100 people after 8."
    ) in Reader(rendered("normal")).text


def test_console_and_html_hold_the_same_tables() -> None:
    page = present.page(examples.CASES["normal"])
    text = Reader(present.render(examples.CASES["normal"])).text
    for part in parts_of(page):
        for cell in [cell for row in part.rows for cell in row] if isinstance(part, Table) else []:
            shown = cell if isinstance(cell, str) else cell.text
            assert shown in text


def test_an_internal_result_says_so_at_both_ends() -> None:
    inside = examples.published(spec=examples.published().spec | {"min_group": 1})
    assert Reader(present.render(inside)).text.count("Not to be passed on") == 2
    assert "Not to be passed on" not in rendered("normal")


def test_old_names_work_with_a_warning(tmp_path: Path) -> None:
    from reidrisk import report

    with pytest.warns(DeprecationWarning, match=r"reidrisk\.report\.render is now in reidrisk\.present\.render"):
        assert report.render(examples.CASES["normal"]) == rendered("normal")
    examples.CASES["normal"].write(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == rendered("normal")


def test_terms_speak_for_names_that_know_no_data() -> None:
    assert Terms(period="week").spoken("optimal attacker, epoch by epoch") == "optimal attacker, week by week"
    assert Terms().spoken("distinct representations; all queries") == "distinct records; all records to identify"
