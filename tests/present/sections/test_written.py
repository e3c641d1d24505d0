"""Every section that is worded in the file is made, and every one that is made is worded."""

import re
import tomllib
from pathlib import Path

from reidrisk import present

FOLDER = Path(present.__file__).parent
WORDED = tomllib.loads((FOLDER / "words" / "sections.toml").read_text("utf-8"))


def test_the_places_of_the_file_are_those_that_sections_name():
    named = set()
    for path in FOLDER.rglob("*.py"):
        for place in re.findall(r"(?:written|text)\(\s*f?\"([a-z-]+\.[^\"]+)\"", path.read_text("utf-8")):
            named.add(".".join(place.split(".")[:2]))
    known = {f"{page}.{name}" for page, names in WORDED.items() for name in names}
    chosen = {place for place in named if "{" in place}  # one of several, by what was found
    unmade = {place for place in known - named if not any(place.startswith(one.partition("{")[0]) for one in chosen)}
    assert (unmade, named - chosen - known) == (set(), set())
    assert all(any(place.startswith(one.partition("{")[0]) for place in known) for one in chosen)


def test_the_sentences_of_the_file_are_those_that_words_say():
    texts = tomllib.loads((FOLDER / "words" / "readings.toml").read_text("utf-8"))
    known = {f"{area}.{name}" for area, names in texts.items() for name in names}
    made = (re.findall(r"\bphrase\(\s*\"([^\"]+)\"", path.read_text("utf-8")) for path in FOLDER.rglob("*.py"))
    assert known == {place for places in made for place in places}
