"""The page of a trade-off: what sharing behaviour costs and gives away."""

from reidrisk.bandits import Tradeoff
from reidrisk.present import Page, Section, Sentence, Terms, words
from reidrisk.present.sections import tradeoff
from reidrisk.present.sections.basis import assumed
from reidrisk.present.words.bandits import stronger_attacker


def page(result: Tradeoff, command: str = "", attack: str | None = None, terms: Terms | None = None) -> Page:
    """Return the page of a trade-off; ``command`` runs it again, ``attack`` is by whose success choices are judged."""
    result = result if attack is None else result.judged_by(attack)
    terms = terms or Terms(person="user", item="state")
    same = f"With the same files, options and seed {result.seed}, every number is the same."
    sections = (
        tradeoff.curves(result),
        tradeoff.choices(result),
        assumed(result.notes, terms),
        tradeoff.methods(result),
        Section("Run it again", see=same, code=command, console=True),
    )
    return Page(
        kind="Sharing behaviour",
        subject="Regret against de-anonymisation",
        verdict=Sentence(words.reading(result, terms)),
        news=tuple(filter(None, [stronger_attacker(result)])),
        sections=tuple(filter(None, sections)),
        facts=(
            terms.many("person", result.n_users),
            terms.many("item", result.n_states),
            f"the attacker knows {result.n_aux} of {result.n_states**2} cells",
            f"{result.runs:,} runs of {result.steps:,} recommendations",
        ),
        footer="This file holds averages over all users: no user id and no record of a single person.",
    )
