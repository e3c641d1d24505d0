"""The page of an audit: how many people can be found, how sure that is, who is exposed, and what that rests on."""

from collections.abc import Callable
from itertools import chain

from reidrisk.audit import AuditResult
from reidrisk.present import Page, Section, Terms
from reidrisk.present.sections.audit import (
    asked,
    basis,
    bounds,
    exposed,
    given_away,
    lower,
    more_people,
    perspective,
    ranked,
    sure,
    top,
)
from reidrisk.present.sections.written import text
from reidrisk.present.words.audit import along, terms_of
from reidrisk.present.words.verdict import verdict

SECTIONS: list[Callable[[AuditResult, Terms], Section | tuple[Section, ...] | None]] = [
    asked.section,
    asked.read,
    lower.section,
    given_away.section,
    more_people.section,
    asked.grown,
    bounds.section,
    exposed.section,
    sure.section,
    ranked.section,
    perspective.section,
    basis.assumptions,
    basis.untold,
    basis.methods,
]
"""The sections in order; a function inserted here is on the page, in a terminal and in a browser."""

_INTERNAL = "Not to be passed on: groups of any size are shown, and numbers may be about single people."


def page(result: AuditResult, terms: Terms | None = None) -> Page:
    """Return the page of an audit; it is made of aggregates only, ``Risk.per_user`` is not looked at."""
    terms = terms_of(result) if terms is None else along(terms, result)
    made = (make(result, terms) for make in SECTIONS)
    sections = (one if isinstance(one, tuple) else (one,) for one in made)
    return Page(
        kind="Re-identification risk report",
        subject=top.subject(result, terms),
        verdict=verdict(result, terms),
        sections=tuple(filter(None, chain.from_iterable(sections))),
        facts=top.facts(result, terms),
        first=top.first(result, terms),
        news=(top.news(result, terms), *top.warned(result, terms)),
        tiles=top.tiles(result, terms),
        badge=top.badge(result, terms),
        warning=_INTERNAL if result.internal else "",
        mood=top.mood(result),
        footer=text("audit.footer.page", terms, {"least": result.spec.get("min_group", 20)}),
        heading="The verdict",
    )
