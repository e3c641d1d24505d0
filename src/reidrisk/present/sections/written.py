"""Sections as ``words/sections.toml`` words them, by page and name; what is counted and drawn comes from the caller."""

from collections.abc import Callable, Mapping
from typing import Any

from reidrisk.present import Figure, Section, Table, Terms
from reidrisk.present.words.register import filled, texts


def text(place: str, terms: Terms, values: Mapping[str, Any] | None = None) -> Any:
    """Return what stands at a place, such as ``audit.exposed.caution``: a text, a list of them, or a table by name."""
    found: Any = texts("sections")
    for part in place.split("."):
        found = found[part]
    return _filled(found, values or {}, terms)


def _filled(found: Any, values: Mapping[str, Any], terms: Terms) -> Any:
    if isinstance(found, str):
        return filled(found, values, terms)
    if isinstance(found, list):
        return tuple(_filled(one, values, terms) for one in found)
    return {name: _filled(one, values, terms) for name, one in found.items()}


def written(
    place: str,
    terms: Terms,
    values: Mapping[str, Any] | None = None,
    draw: Callable[[bool], Any] | None = None,
    numbers: Table | None = None,
    **parts: Any,
) -> Section:
    """Return a section by its place, such as ``cohorts.gaps``; ``parts`` are its further fields.

    The file says ``title``, ``see`` and ``caution``, and of a figure what those hear who cannot see it (``alt``) and
    ``how`` to read it. ``draw`` draws that figure, ``numbers`` are what it shows.

    >>> written("release.relative", Terms()).title
    'How far off, in proportion'
    """
    said = {"name": place.rpartition(".")[2], **text(place, terms, values)}
    alt, how = said.pop("alt", ""), said.pop("how", "")
    figure = None if draw is None else Figure(draw, alt, numbers, how)
    return Section(**{"figure": figure, **said, **parts})
