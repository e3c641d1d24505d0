"""The page of an audit of cohorts: its numbers, its warning, and the page itself in a real browser."""

import re

import numpy as np
import pytest

pytest.importorskip("altair")

from reidrisk import cohorts
from reidrisk.present import render, write
from reidrisk.present.sections import cohorts as sections

HOSTILE = "</script><script>alert(1)</script>"


def audited(private=False, share=0.4):
    rng = np.random.default_rng(0)
    assignment = rng.integers(-1, 30, 20_000)
    chance = np.full((31, 3), 0.05)
    chance[4, 1] = share
    visited = rng.random((20_000, 3)) < chance[assignment]
    noise = cohorts.Noise(epsilon=1.0, delta=1e-6, simulation=True) if private else None
    spec = cohorts.CohortSpec(n_cohorts=30, noise=noise)
    return cohorts.cohort_audit(cohorts.sensitivity(assignment, visited, spec, ["health", HOSTILE, "religion"]))


CASES = {"exact": audited(), "nothing sensitive": audited(share=0.05), "private": audited(private=True)}


@pytest.fixture(scope="module")
def pages():
    return {case: render(audit, HOSTILE) for case, audit in CASES.items()}


@pytest.mark.parametrize("case", CASES)
def test_charts_keep_to_their_schema(case):
    for narrow in (False, True):
        for chart in (sections.gap_chart, sections.blocking_chart):
            chart(CASES[case], narrow).to_dict()  # checks against the schema


def test_every_bar_is_in_the_histogram():
    audit = CASES["exact"]
    assert sum(audit.gaps.cohorts) == 30
    above = sum(n for low, n in zip(audit.gaps.edges, audit.gaps.cohorts, strict=False) if low >= 0.1 - 1e-9)
    assert above == audit.summary.sensitive == 1


@pytest.mark.parametrize("case", CASES)
def test_the_page_says_what_was_found_and_that_it_is_internal(pages, case):
    audit, page = CASES[case], pages[case]
    assert "published it would be the leak it warns of" in page
    assert HOSTILE not in page
    words = re.sub(r"<[^>]+>", "", page)
    assert " ".join(audit.summary.reading.split()) in " ".join(words.split())
    assert ("Privacy statement" in page) == (case == "private")
    assert ("protects nobody" in page) == (case == "private")


def blocked(n_cohorts):
    """Audit cohorts that all have a category far more often than the population, most of which has no cohort."""
    assignment = np.concatenate([np.repeat(np.arange(n_cohorts), 500), np.full(20_000, -1)])
    visited = np.zeros((len(assignment), 2), dtype=bool)
    for cohort in range(n_cohorts):
        visited[500 * cohort : 500 * cohort + 200 + 20 * cohort, 0] = True
    return cohorts.cohort_audit(cohorts.sensitivity(assignment, visited, categories=["health", "faith"]))


@pytest.mark.parametrize("n_cohorts", [1, 6])
@pytest.mark.parametrize("width", [1280, 400])
def test_bars_and_threshold_are_in_the_picture_where_all_gaps_are_above(browser, tmp_path, n_cohorts, width):
    audit = blocked(n_cohorts)
    assert audit.gaps.edges[0] > audit.summary.t
    file = tmp_path / "page.html"
    write(audit, file)
    page = browser.new_page(viewport={"width": width, "height": 900})
    page.goto(file.as_uri())
    page.wait_for_selector("html[data-charts=drawn]", state="attached")
    plot = page.locator("[data-chart=gaps] svg .role-axis-grid").first.bounding_box()
    chart = page.locator("[data-chart=gaps] svg").bounding_box()
    marks = page.locator("[data-chart=gaps] .mark-rect.role-mark path, [data-chart=gaps] .mark-rule.role-mark line")
    boxes = [box for box in (mark.bounding_box() for mark in marks.all()) if box and box["height"] > 20]
    assert len(boxes) == 1 + sum(count > 0 for count in audit.gaps.cohorts)
    for box in boxes:
        assert chart["x"] < box["x"] < box["x"] + box["width"] <= chart["x"] + chart["width"]
        assert plot["y"] - 30 < box["y"]
    labels = page.locator("[data-chart=gaps] .role-axis-label").last.locator("text").all_text_contents()
    assert len(set(labels)) == len(labels)  # no two ticks of one cohort
    page.close()


def test_where_everybody_is_blocked_nothing_reassures():
    page = re.sub(r"<[^>]+>", "", render(blocked(1)))
    assert "Of 1 cohort, 1 (100 %) has a category" in page
    assert "there is nothing to compare" in page
    assert "points above the population in any category, which stays within" not in page
    assert "these and everyone who never had a cohort" not in page
    assert "of the users who have one (500 of 20,500 users)" in page
    assert "Users blocked, of those with a cohort" in page
    some = re.sub(r"<[^>]+>", "", render(CASES["exact"]))
    assert "these and everyone who never had a cohort" in some


@pytest.mark.parametrize(("case", "width"), [("exact", 1280), ("exact", 390), ("private", 1280)])
def test_charts_are_drawn_and_nothing_is_fetched(browser, pages, tmp_path, case, width):
    file = tmp_path / "page.html"
    file.write_text(pages[case], encoding="utf-8")
    troubles = []
    page = browser.new_page(viewport={"width": width, "height": 900})
    page.on("console", lambda message: troubles.append(message.text))
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.on("dialog", lambda dialog: troubles.append(dialog.message))
    page.on("request", lambda request: request.url == file.as_uri() or troubles.append(request.url))
    page.goto(file.as_uri())
    page.wait_for_selector("html[data-charts=drawn]", state="attached")
    assert page.locator(".chart svg").count() == 2
    # Bars start at the axis: flat ones would be lines.
    heights = page.locator("[data-chart=gaps] .mark-rect path").evaluate_all("a => a.map(e => e.getBBox().height)")
    assert max(heights) > 100
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert not troubles


def test_a_page_is_written_whole(pages, tmp_path):
    write(CASES["exact"], tmp_path / "page.html", HOSTILE)
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == pages["exact"]
