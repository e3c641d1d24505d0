"""The page of an adversary: what it was given, and how many people it links by that."""

from reidrisk.bandits import AdversaryResult
from reidrisk.present import Page, Section, Sentence, Table, Terms, words
from reidrisk.present.sections.basis import assumed
from reidrisk.present.words.frequencies import in_words, with_interval


def page(found: AdversaryResult, terms: Terms | None = None) -> Page:
    """Return the page of an attack on a service."""
    terms = terms or Terms(person="user", item="state")
    names = {"scoreboard": found.scoreboard, "mechanism known": found.likelihood}
    rows = tuple(
        (name, with_interval(risk.rate, risk.low, risk.high), in_words(risk.baseline))
        for name, risk in names.items()
        if risk is not None
    )
    groups = "" if found.groups is None else f" of the {found.groups:,} that are handed out"
    return Page(
        kind="Adversary",
        subject=found.strategy,
        verdict=Sentence(words.reading(found, terms)),
        sections=tuple(
            filter(
                None,
                (
                    Section(
                        "Links",
                        see=f"It got {found.collected:,} matrices{groups}.",
                        table=Table(("attack", "found", "guess"), rows) if rows else None,
                        console=True,
                    ),
                    assumed(found.notes, terms),
                ),
            )
        ),
        facts=(f"{found.identities:,} identities", f"{found.cells} cells known", f"seed {found.seed}"),
        footer="This file holds rates: no user id, no matrix and no secret.",
    )
