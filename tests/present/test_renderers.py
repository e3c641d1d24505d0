"""One page, two renderers: what a terminal shows and what a browser shows are the same sections."""

import io

import pytest
from rich.console import Console

from reidrisk.present.console import print_page
from reidrisk.present.html import render
from reidrisk.present.model import Badge, Cell, Page, Section, Sentence, Table, Tile

PAGE = Page(
    kind="Report",
    subject="shop [red] <b>and</b> bank",
    verdict=Sentence("It links ", "3 in 100", " people."),
    facts=("4 records",),
    first=("The strongest attack did not run.",),
    tiles=(Tile("Correct links", "3 in 100", "2 to 4 in 100", "correct"),),
    badge=Badge("fail", "the limit is 1 in 100."),
    sections=(
        Section(
            "What would lower it",
            see="Merging lowers it.",
            table=Table(
                ("change", "found"), (("merge [/x]", "3 %"), ("none", Cell("9 %", "8 to 10 %", "worst"))), (1,)
            ),
            caution="Do not add changes up.",
            console=True,
        ),
        Section("Methods", see=("How it was done.",), code="reidrisk audit <a>"),
    ),
    footer="Nothing of one person.",
)


def printed(page):
    out = io.StringIO()
    print_page(page, Console(file=out, width=100, force_terminal=False))
    return out.getvalue()


def test_a_terminal_shows_the_verdict_and_the_sections_meant_for_it():
    text = printed(PAGE)
    order = [
        "The strongest attack did not run.",
        "It links 3 in 100 people.",
        "fail:",
        "What would lower it",
        "merge [/x]",
    ]
    assert [text.index(part) for part in order] == sorted(text.index(part) for part in order)
    assert "9 % (8 to 10 %) [worst]" in text
    assert "Methods" not in text


def test_a_browser_shows_every_section_and_text_as_text():
    pytest.importorskip("jinja2", reason="jinja2 is not installed; pages need it")
    text = render(PAGE)
    for part in ("What would lower it", "Methods", "Do not add changes up.", "shop [red] &lt;b&gt;and&lt;/b&gt; bank"):
        assert part in text
    assert '<strong class="kept">3 in 100</strong>' in text
    assert 'href="#what-would-lower-it"' in text
