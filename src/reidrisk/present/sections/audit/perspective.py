"""Put into perspective: this data between what names everyone and blind guessing, beside published figures."""

from dataclasses import dataclass
from functools import partial
from typing import Any

from reidrisk.audit import AuditResult
from reidrisk.present import Section, Table, Terms, drawing
from reidrisk.present.drawing import Line, Point, rated
from reidrisk.present.scales import rate_scale
from reidrisk.present.sections.written import text, written
from reidrisk.present.words import a, in_words, people, rate_cells, table
from reidrisk.present.words.audit import of_system

_NUMBERS = table("numbers")  # which number names a person for good


@dataclass(frozen=True)
class _Row:
    """A rate that is known, measured, or published as 'below' or 'about' so much."""

    label: str
    short: str
    point: Point
    kind: str
    note: str


def section(result: AuditResult, terms: Terms) -> Section:
    """Return the comparison."""
    rows = _rows(result, terms)
    where = "where this data lies" if result.risks else "where a rate of this data would lie"
    ours = [row for row in rows if row.kind in ("known", "measured")]
    known = "; ".join(f"{row.short}: {people(row.point.rate, terms.people)}" for row in ours)
    more = "over more" if terms.axis == "epochs" else "with more"
    said = {"where": where, "yardstick": _yardstick(result, terms)[1], "more": more, "known": known}
    said |= text(f"audit.published-{'beside' if of_system(result).get('figures') else 'none'}", terms)
    lines = []
    for row in rows:
        cells = rate_cells(row.point.rate, row.point.low, row.point.high)
        lines.append((row.label, *((row.point.text, "") if row.kind in ("below", "about") else cells), row.note))
    table = Table(("what", "linked correctly", "interval", "source or remark"), tuple(lines), (1, 2))
    return written("audit.perspective", terms, said, partial(chart, result, terms), table)


def chart(result: AuditResult, terms: Terms, narrow: bool = False) -> Any:
    """Draw this data between what names everyone and blind guessing, beside published figures."""
    styles = {
        "known": drawing.GUESSING,
        "measured": drawing.ATTACKS[0],
        "about": drawing.PUBLISHED,
        "below": drawing.PUBLISHED_BELOW,
    }
    drawn = [Line(row.label, row.short, row.point.text, styles[row.kind], (row.point,)) for row in _rows(result, terms)]
    scale = rate_scale([rate for line in drawn for rate in (line.points[0].rate, line.points[0].high)])
    return drawing.row_chart(drawn, scale, f"{terms.people} linked correctly", narrow)


def _yardstick(result: AuditResult, terms: Terms) -> tuple[str, str, str]:
    """Return what names everyone in data of this kind: a label, in a sentence, and why."""
    browser = terms.person == "visitor" or terms.item in ("page", "site")
    if of_system(result).get("identifier") == "cookie" or browser:
        return "Third-party cookie", "a third-party cookie", "the same identifier at every site"
    number = _NUMBERS.get(terms.person) or ("phone" if terms.item in ("place", "app", "contact") else "customer")
    both = "both tables" if result.scenario is None or result.scenario.code == "scenario-two-tables" else "both records"
    return f"A name or {a(number)} number", f"a name or {a(number)} number", f"the same in {both}"


def _rows(result: AuditResult, terms: Terms) -> list[_Row]:
    label, _, why = _yardstick(result, terms)
    rows = [_Row(label, label, rated(0.0, 1.0), "known", why)]
    risk = result.strongest
    if risk is not None:
        name = f"This data ({_sizes(risk.n_targets, risk.n_epochs, terms)})"
        point = rated(0.0, risk.rate, risk.low, risk.high)
        rows.append(_Row(name, "This data", point, "measured", "strongest attack of this audit"))
    guess = 1.0 / result.n_targets if risk is None else risk.baseline
    name = f"Blind guessing (among {result.n_targets:,} {terms.people})"
    rows.append(_Row(name, "Blind guessing", rated(0.0, guess), "known", f"one in the number of {terms.people}"))
    for whose, kind, rate, n, weeks, source in of_system(result).get("figures", ()):
        sizes = _sizes(n, weeks, terms)
        point = Point(0.0, rate, rate, rate, f"{kind} {in_words(rate)}")
        rows.append(_Row(f"Published, {whose} ({sizes})", f"Published ({sizes})", point, kind, source))
    return rows


def _sizes(n_targets: int, n_epochs: int, terms: Terms) -> str:
    millions, rest = divmod(n_targets, 1_000_000)
    many = f"{millions} million" if millions and not rest else f"{n_targets:,}"
    return f"{many} {terms.people}, {terms.many('period', n_epochs)}"
