"""Makes the scenes and processes beside this file importable from the tests below, and hands scenes out."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from scenes import Scene


@pytest.fixture
def scene(tmp_path):
    """Return a function that makes a service with options; all are closed at the end."""
    made = []

    def make(name="sharing.db", **options):
        made.append(Scene(f"sqlite:///{tmp_path / name}", **options))
        return made[-1]

    yield make
    for one in made:
        one.close()
