"""The page of a benchmark: how attacks compare on the same people."""

from reidrisk.bench import Bench
from reidrisk.present import Page, Section, Sentence, Terms, words
from reidrisk.present.sections import bench as sections

SECTIONS = (sections.leaderboard, sections.best, sections.rates, sections.left_out, sections.data)


def page(found: Bench, command: str = "", terms: Terms | None = None) -> Page:
    """Return the page of a benchmark; ``command`` runs it again."""
    terms = terms or Terms()
    same = f"With the same data and version {found.version}, every number but the seconds is the same."
    again = Section("Run it again", see=same, code=command)
    return Page(
        kind="Benchmark of attacks",
        subject="People found by each attack",
        verdict=Sentence(words.reading(found, terms)),
        sections=tuple(filter(None, [*(make(found, terms) for make in SECTIONS), again])),
        facts=(
            f"at most {terms.many('person', found.users)} per data set",
            f"at most {terms.many('record', found.queries)} to identify per setting",
            f"seed {found.seed}",
        ),
        footer="This file holds rates over all people of a data set: no id and no record of a single person.",
    )
