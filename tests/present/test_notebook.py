"""A page in a notebook: the verdict and a chart, as text that stays text and HTML that runs and fetches nothing."""

import builtins
import sys
from html.parser import HTMLParser

import pytest
from examples import hostile, no_truth, published
from test_renderers import PAGE

from reidrisk.audit import AuditResult
from reidrisk.present import notebook, page


class Marks(HTMLParser):
    """The tags of a text, and their attributes."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.given = set(), {}
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        for name, value in attrs:
            self.given.setdefault(name, []).append(value)


def test_a_result_is_shown_by_its_verdict_and_first_figure():
    pytest.importorskip("vl_convert", reason="vl-convert is not installed; charts need it")
    result = published()
    html = result._repr_html_()
    first = next(one for one in page(result).sections if one.figure is not None)
    assert html.count("<img") == 1
    assert f"<h3>{first.title}</h3>" in html
    assert page(result).verdict.strong in html


def test_nothing_runs_and_nothing_is_fetched():
    pytest.importorskip("vl_convert", reason="vl-convert is not installed; charts need it")
    harmless = {"div", "p", "strong", "em", "h3", "h4", "h5", "img", "pre", "details", "summary"}
    harmless |= {"table", "caption", "thead", "tbody", "tr", "th", "td"}
    for result in (published(), hostile(), no_truth()):
        found = Marks(notebook.render(page(result), whole=True))
        assert found.tags <= harmless
        assert set(found.given) <= {"alt", "class", "src", "style"}
        assert all(one.startswith("data:image/svg+xml;base64,") for one in found.given["src"])


def test_text_of_the_data_stays_text():
    html = notebook.render(PAGE, whole=True)
    assert "merge [/x]" in html
    assert "reidrisk audit &lt;a&gt;" in html
    assert "<a>" not in html
    assert 'style="text-align: right">9 % (8 to 10 %) [worst]</td>' in html


def test_what_must_come_first_comes_first():
    html = notebook.render(PAGE)
    order = ["The strongest attack did not run.", "It links ", "3 in 100", "fail"]
    assert [html.index(part) for part in order] == sorted(html.index(part) for part in order)


def test_without_the_extra_a_chart_is_its_numbers(monkeypatch):
    real = builtins.__import__

    def missing(name, *rest, **more):
        if name.partition(".")[0] in ("altair", "vl_convert"):
            raise ModuleNotFoundError(name, name=name)
        return real(name, *rest, **more)

    for name in [one for one in sys.modules if one.partition(".")[0] in ("altair", "vl_convert")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(builtins, "__import__", missing)
    html = published()._repr_html_()
    assert "<img" not in html
    assert "Blind guessing" in html
    assert html.count("<table>") == 2


def test_a_result_without_a_page_is_shown_as_text():
    result = published()
    assert isinstance(result, AuditResult)
    assert result.risks[0]._repr_html_() is None
