"""What gives people away: the risk without each period, column or kind of item, and with it alone."""

from reidrisk.audit import AuditResult
from reidrisk.measure import Attribution, Part
from reidrisk.present import Cell, Section, Table, Terms
from reidrisk.present.sections.written import written
from reidrisk.present.words import capital, in_words, percent, sentence, table, two_digits

_RARITY, _FORMER = table("held-by"), table("former-rarity")
_NONE = ("nothing-to-take-apart", "parts-left-out")  # why it was not measured
_MOST = 12  # parts that a table shows, those that carry most


def section(result: AuditResult, terms: Terms) -> Section | None:
    """Return what each part of the records carries, where that was asked for."""
    more = result.further
    if more is None:
        return None
    found = more.attribution
    if found is None:
        said = tuple(sentence(note, terms) for note in more.notes if note.code in _NONE)
        return written("audit.given-away", terms, see=said, caution="", console=True) if said else None
    missed = [sentence(note, terms) for note in more.notes if note.code == "taxonomy-misses"]
    order = sorted(found.parts, key=lambda part: -part.carried.difference)
    first = order[0]
    without = f"without {_name(first, found, terms)}, {in_words(first.without.rate)} are"
    see = f"With everything, {in_words(found.whole.rate)} {terms.people} are found; {without}."
    if first.carried.low <= 0.0:
        see = f"No part of the {terms.records} carries the risk by itself: without any one, about as many are found."
    said = tuple(text for text in (see, _redundant(found, terms), _hidden(found, terms), *missed) if text)
    return written("audit.given-away", terms, see=said, table=_table(found, order[:_MOST], terms), console=True)


def _table(found: Attribution, parts: list[Part], terms: Terms) -> Table:
    rows: list[tuple[str | Cell, ...]] = []
    for part in parts:
        gap = part.carried
        lost = f"{two_digits(100 * gap.difference)} ({two_digits(100 * gap.low)} to {two_digits(100 * gap.high)})"
        name = capital(_name(part, found, terms))
        rows.append((name, in_words(part.without.rate), lost, in_words(part.alone.rate), percent(part.share)))
    columns = ("part", "found without it", "fewer in 100", "found by it alone", f"share of {terms.items}")
    return Table(columns, tuple(rows), (1, 2, 3, 4))


def _name(part: Part, found: Attribution, terms: Terms) -> str:
    if found.by == "periods":
        return f"{terms.period} {part.name}"
    level = _FORMER.get(part.name, part.name)
    if found.by == "rarity" and level in _RARITY:
        return f"{terms.things} held by {_RARITY[level]} {terms.people}"
    return part.name


def _redundant(found: Attribution, terms: Terms) -> str:
    """Name two parts that say the same: each can be left out, and both cannot."""
    alone = {part.name: part for part in found.parts}
    for pair in sorted(found.pairs, key=lambda pair: -pair.carried.difference):
        one, two = (alone[name] for name in pair.names)
        singly = max(one.carried.difference, two.carried.difference)
        if pair.carried.low > 2.0 * max(singly, 0.0) and pair.carried.low > 0.01:
            names = " and ".join(_name(part, found, terms) for part in (one, two))
            return f"Either of {names} can do without the other; without both, {in_words(pair.without.rate)} are found."
    return ""


def _hidden(found: Attribution, terms: Terms) -> str:
    if not found.hidden:
        return ""
    return f"Left out: {terms.many('part', found.hidden)} of fewer than {found.min_group:,} {terms.people}."
