"""The report in a real browser: charts drawn, nothing fetched, no complaints, on a screen, a phone and paper."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("altair")

import examples

from reidrisk import present

EVERY = examples.CASES | examples.MORE
CASES = (
    "normal",
    "one epoch, bounds",
    "no truth",
    "zero rates growing",
    "rate 1",
    "gate fails",
    "hostile",
    *examples.MORE,
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("reports")


class Visit:
    """A page that was opened, with everything that went wrong on it."""

    def __init__(self, browser: Any, file: Path, width: int) -> None:
        self.troubles: list[str] = []
        self.page = browser.new_page(viewport={"width": width, "height": 900})
        self.page.on("console", lambda message: self.troubles.append(f"console: {message.text}"))
        self.page.on("pageerror", lambda error: self.troubles.append(f"page error: {error}"))
        self.page.on("dialog", lambda dialog: self.troubles.append(f"dialog: {dialog.message}"))
        self.page.route("**/*", self._route)
        self._file = file.as_uri()
        self.page.goto(self._file)
        self.page.wait_for_selector("html[data-charts=drawn]", state="attached")

    def _route(self, route: Any) -> None:
        if route.request.url == self._file:
            route.continue_()
        else:
            self.troubles.append(f"request: {route.request.url}")
            route.abort()


def written(folder: Path, case: str) -> Path:
    file = folder / f"{list(EVERY).index(case)}.html"
    if not file.exists():
        present.write(EVERY[case], file)
    return file


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("case", CASES)
def test_charts_are_drawn_and_nothing_is_fetched(browser: Any, folder: Path, case: str, width: int) -> None:
    visit = Visit(browser, written(folder, case), width)
    charts = visit.page.locator(".chart")
    assert charts.count() >= 1
    for chart in charts.all():
        examples.check_chart(chart, width)
        assert chart.locator("svg text").count() > 3
    assert visit.page.evaluate("document.documentElement.scrollWidth") <= width
    assert visit.troubles == []
    visit.page.close()


@pytest.mark.parametrize("width", [1280, 390])
def test_labels_at_line_ends_neither_overlap_nor_leave_the_page(browser: Any, folder: Path, width: int) -> None:
    visit = Visit(browser, written(folder, "normal"), width)
    for name in ("growth", "sure"):
        texts = visit.page.locator(f"[data-chart={name}] svg text[font-weight='600']").all()
        boxes = [text.bounding_box() for text in texts]
        assert len(boxes) == {"growth": 4, "sure": 2}[name]
        assert all(box["x"] + box["width"] <= width for box in boxes)
        boxes.sort(key=lambda box: box["y"])
        assert all(a["y"] + a["height"] <= b["y"] + 1.0 for a, b in itertools.pairwise(boxes))
    visit.page.close()


def test_tables_behind_charts_open_and_text_is_16_pixels(browser: Any, folder: Path) -> None:
    visit = Visit(browser, written(folder, "normal"), 1280)
    details = visit.page.locator("#growth details")
    assert not details.locator("table").is_visible()
    details.locator("summary").click()
    assert details.locator("table").is_visible()
    texts = "Array.from(document.querySelectorAll('p:not(.small), td, dd'))"
    sizes = visit.page.evaluate(f"{texts}.map(e => parseFloat(getComputedStyle(e).fontSize))")
    assert min(sizes) >= 15.0
    assert visit.page.evaluate("parseFloat(getComputedStyle(document.body).fontSize)") == 16.0
    visit.page.close()


def test_it_prints_on_a4_with_every_table_open(browser: Any, folder: Path, tmp_path: Path) -> None:
    visit = Visit(browser, written(folder, "normal"), 1280)
    visit.page.pdf(path=tmp_path / "report.pdf", prefer_css_page_size=True)
    assert (tmp_path / "report.pdf").read_bytes().startswith(b"%PDF")
    assert b"/MediaBox [0 0 594" in (tmp_path / "report.pdf").read_bytes()
    visit.page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert visit.page.locator("details:not([open])").count() == 0
    visit.page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert visit.page.locator("#growth details:not([open])").count() == 1
    assert visit.troubles == []
    visit.page.close()


def test_charts_follow_the_width_of_the_window(browser: Any, folder: Path) -> None:
    visit = Visit(browser, written(folder, "normal"), 1280)
    visit.page.set_viewport_size({"width": 390, "height": 800})
    visit.page.wait_for_function("document.querySelector('#growth svg').getBoundingClientRect().width < 380")
    assert visit.page.evaluate("document.documentElement.scrollWidth") <= 390
    assert visit.troubles == []
    visit.page.close()


def test_without_scripts_the_charts_are_still_there(browser: Any, folder: Path) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(written(folder, "normal").as_uri())
    assert page.locator(".chart svg").count() == 4
    assert all(
        chart.bounding_box()["height"] > 60 for chart in page.locator(".chart > noscript > svg, .chart svg").all()
    )
    context.close()


def test_no_table_leaves_a_row_alone_on_a_page(browser: Any, folder: Path) -> None:
    """Short tables are kept whole, and the first and last rows of long ones together."""
    visit = Visit(browser, written(folder, "normal"), 1280)
    visit.page.emulate_media(media="print")
    style = "(e, p) => getComputedStyle(e)[p]"
    for table in visit.page.locator("table").all():
        rows = table.locator("tbody tr")
        if rows.count() < 10 and "assumptions" not in (table.get_attribute("class") or ""):
            assert table.evaluate(style, "breakInside") == "avoid"
        assert rows.first.evaluate(style, "breakAfter") == "avoid"
        assert rows.last.evaluate(style, "breakBefore") == "avoid"
    visit.page.close()


@pytest.mark.parametrize("width", [1280, 390])
def test_the_label_of_a_bound_that_ends_early_lies_beside_the_plot(browser: Any, folder: Path, width: int) -> None:
    """Within the plot it would lie over the lines of the attacks."""
    short = examples.published(bounds=tuple(bound for bound in examples.bounds() if bound.n_epochs in (1, 2)))
    present.write(short, folder / "short.html")
    visit = Visit(browser, folder / "short.html", width)
    chart = visit.page.locator("[data-chart=growth] svg")
    ends = max(
        line.bounding_box()["x"] + line.bounding_box()["width"] for line in chart.locator(".mark-line path").all()
    )
    labels = chart.locator("text[font-weight='600']").all()
    assert len(labels) == 4
    assert all(label.bounding_box()["x"] >= ends - 15.0 for label in labels)  # the box of a line has its mitres in it
    assert all(label.bounding_box()["x"] + label.bounding_box()["width"] <= width for label in labels)
    assert any("at 2" in (label.text_content() or "") for label in labels)
    visit.page.close()
