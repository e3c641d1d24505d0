"""Who is exposed, in the reader's words: names of traits and of groups."""

from __future__ import annotations

from reidrisk.measure import Group
from reidrisk.present.terms import Terms

_RARITY = {
    "below 1 in 1,000": "less than once in 1,000 observations",
    "1 in 1,000 to 100": "once in 100 to 1,000 observations",
    "above 1 in 100": "more than once in 100 observations",
}


def trait_name(trait: str, terms: Terms) -> str:
    """Name a trait; one that an older version wrote in words stays as it is."""
    names = {"rarest-item": f"how common the rarest {terms.item} is", "periods-observed": f"{terms.periods} observed"}
    return names.get(trait, trait)


def group_name(group: Group, n_epochs: int, terms: Terms) -> str:
    """Name the people of a group.

    Examples
    --------
    >>> group_name(Group("periods-observed", "3", 40, 0.1, 0.0, 0.2), 8, Terms(period="week"))
    'seen in 3 of 8 weeks'
    """
    if group.level == "other":
        return f"all others, by {trait_name(group.trait, terms)}"
    if group.trait == "periods-observed":
        return f"seen in {group.level} of {terms.many('period', n_epochs)}"
    if group.trait == "rarest-item":
        return f"rarest {terms.item} seen {_RARITY.get(group.level, group.level)}"
    return group.level
