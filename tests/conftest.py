"""What tests of several packages share: where the study data is."""

import os
from pathlib import Path

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
