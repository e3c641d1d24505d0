"""The two reports on a release: what they say, and how they look in a real browser."""

from __future__ import annotations

import dataclasses
import html
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("altair")

from examples import check_chart

from reidrisk import TopSets, present, release
from reidrisk.base.notes import Note
from reidrisk.release import TypeMixture

N_USERS = 4_321


@pytest.fixture(scope="module")
def found() -> tuple[Any, ...]:
    rng = np.random.default_rng(0)
    tokens = np.argsort(rng.random((N_USERS, 3, 9)), axis=2)[:, :, :3]
    sets = TopSets(tokens, n_tokens=9)
    stats = release.statistics(sets.epochs(2), 2.0, 1e-6)
    model = TypeMixture(rng.normal(size=(4, 3, 3, 9)), None, stats.statement)
    public = release.public_validation(model, stats, model.sample(3_000, seed=0))
    internal = release.internal_validation(sets, stats, model, trials=2, queries=200)
    return public, internal, release.canary(stats.statement, 3, trials=500), release.noise_fit(stats)


@pytest.fixture(scope="module")
def files(found: tuple[Any, ...], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    public, internal, canary, noise = found
    folder = tmp_path_factory.mktemp("validation")
    present.write(public, folder / "public.html", canary, noise)
    present.write(internal, folder / "internal.html")
    return {"public": folder / "public.html", "internal": folder / "internal.html"}


def words(path: Path) -> str:
    """Return what a person reads: no scripts, styles or tags."""
    text = re.sub(r"<(script|style|noscript).*?</\1>", " ", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    text = re.sub(r"</?(?:span|strong)[^>]*>", "", text)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", text)).split())


def test_the_public_report_states_the_privacy_and_nothing_private(files: dict[str, Path], found: Any) -> None:
    text = words(files["public"])
    assert found[0].reading in text
    assert found[0].statement.reading in text
    assert "discrete Gaussian noise" in text
    assert "one user with all their sets" in text
    assert "model and samples were compared with the statistics" in text
    assert found[2].reading in text
    assert found[3].reading in text
    for number in (str(N_USERS), f"{N_USERS:,}"):
        assert number not in text


def test_the_internal_report_is_marked_at_both_ends(files: dict[str, Path], found: Any) -> None:
    text = words(files["internal"])
    assert text.count(found[1].warning) == 2
    assert text.index(found[1].warning) < text.index(found[1].reading)
    assert f"{N_USERS:,} real people" in text
    for rate in found[1].rates:
        assert f"{100 * rate.real:.3g} %" in text
    assert "privacy statement" not in text.replace(found[1].warning, "")


def test_nothing_can_be_fetched(files: dict[str, Path]) -> None:
    for file in files.values():
        policy = html.unescape(re.search(r'Security-Policy" content="([^"]+)"', file.read_text(encoding="utf-8"))[1])
        assert policy.startswith("default-src 'none'; script-src 'sha256-")


def test_the_public_report_does_without_sample_and_canary(found: Any) -> None:
    text = present.render(dataclasses.replace(found[0], n_sampled=0))
    assert "An attack on noise" not in text
    assert "synthetic people</span>" not in text
    assert "Whether the counts have the stated noise was not examined." in text
    assert top(text)[0] == "unsure"


def top(page: str) -> tuple[str, str]:
    """Return the mood and the words of the box on top."""
    mood, box = re.search(r'<div class="verdict ([a-z]*)">(.*?)</div>', page, flags=re.DOTALL).groups()
    return mood, " ".join(html.unescape(re.sub(r"<[^>]+>", "", box)).split())


def test_the_box_on_top_is_calm_only_where_everything_was_found_right(found: Any) -> None:
    public, _, canary, noise = found
    better = tuple(dataclasses.replace(s, within_fifth=0.9 if s.what == "model" else 0.1) for s in public.summaries)
    good, fits = dataclasses.replace(public, summaries=better), dataclasses.replace(noise, fits=True)
    assert top(present.render(good, canary, fits))[0] == "calm"
    worse = tuple(dataclasses.replace(s, within_fifth=0.1 if s.what == "model" else 0.9) for s in public.summaries)
    assert top(present.render(dataclasses.replace(public, summaries=worse), canary, fits))[0] == "unsure"
    assert top(present.render(good, canary, dataclasses.replace(noise, fits=None)))[0] == "unsure"
    for attacked, looked in (
        (canary, dataclasses.replace(noise, fits=False, troubles=(Note("users-not-of-counts"),))),
        (dataclasses.replace(canary, passed=False, within_budget=False), fits),
    ):
        page = present.render(good, attacked, looked)
        mood, box = top(page)
        assert mood == "alarm"
        assert "As stated, but see the top of this page: " in page
        failed = looked.reading if looked.fits is False else attacked.reading
        assert box.removeprefix("What was found").strip().startswith(failed)


def test_shares_have_few_digits(files: dict[str, Path]) -> None:
    for page in files.values():
        shares = re.findall(r"[\d.]+(?= %)", words(page))
        long = [share for share in shares if len(re.sub(r"^99\.9+|\D|^0+", "", share)) > 3]
        assert not long


@pytest.mark.parametrize("width", [320, 400, 1280])
def test_labels_of_an_axis_do_not_run_into_each_other(browser: Any, files: dict[str, Path], width: int) -> None:
    page = browser.new_page(viewport={"width": width, "height": 900})
    page.goto(files["public"].as_uri())
    page.wait_for_selector("html[data-charts=drawn]", state="attached")
    for chart in page.locator(".chart").all():
        boxes = [label.bounding_box() for label in chart.locator(".role-axis-label text").all()]
        lowest = max(box["y"] for box in boxes)
        ends = sorted((box["x"], box["x"] + box["width"]) for box in boxes if abs(box["y"] - lowest) < 2)
        assert len(ends) > 2
        assert all(right + 2 < left for (_, right), (left, _) in pairwise(ends))
    page.close()


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize(("kind", "charts"), [("public", 4), ("internal", 2)])
def test_charts_are_drawn_within_the_page(
    browser: Any, files: dict[str, Path], kind: str, charts: int, width: int
) -> None:
    troubles: list[str] = []
    page = browser.new_page(viewport={"width": width, "height": 900})
    page.on("console", lambda message: troubles.append(message.text))
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.on("request", lambda asked: troubles.append(asked.url) if asked.url != files[kind].as_uri() else None)
    page.goto(files[kind].as_uri())
    page.wait_for_selector("html[data-charts=drawn]", state="attached")
    drawn = page.locator(".chart")
    assert drawn.count() == charts
    for chart in drawn.all():
        check_chart(chart, width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert troubles == []
    page.close()
