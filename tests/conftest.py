"""What tests of several packages share: where the study data is, and a real browser for pages."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="session")
def study_file():
    """Return the path of a file of study data by its name; where it is missing, skip the test and say which it is."""

    def found(name: str) -> Path:
        folder = Path(os.environ.get("REIDRISK_DATA") or Path(__file__).parents[2] / "shared" / "data")
        if not (folder / name).is_file():
            pytest.skip(f"{name} is not in the data folder {folder}")
        return folder / name

    return found


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Open a real browser; where there is none, skip the test and say how to get one."""
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if chromium is None:
        pytest.skip("no Chromium: install it with apt-get install chromium")
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as started:
        # Chromium refuses to run as root with its sandbox.
        opened = started.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield opened
        opened.close()
