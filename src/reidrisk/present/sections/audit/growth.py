"""How it grows: risk against the number of periods, for the strongest attacks, blind guessing, the tightest bound."""

import itertools
from functools import partial
from typing import Any

from reidrisk.audit import AuditResult
from reidrisk.base.results import Risk
from reidrisk.bounds import tightest_by_epochs
from reidrisk.present import Figure, Section, Table, Terms, drawing
from reidrisk.present.drawing import Line, rated
from reidrisk.present.scales import rate_scale
from reidrisk.present.words.frequencies import attack_label, in_words, joined, people, rate_cells, with_interval
from reidrisk.present.words.gate import periods_used
from reidrisk.present.words.register import filled, phrase, table
from reidrisk.present.words.risk import linked_by

_FAR = 16  # times as many periods as the fewest, from which on an axis has them by their ratio
_SEEN = {"epochs": "observed", "items": "compared", "facts": "known", "columns": "compared", "dimensions": ""}
_MANY = 4  # numbers of periods, beyond which a terminal shows one row for each
_SHOWN = 3  # attacks that are drawn, the strongest; of weaker ones a table holds the highest rate


def section(result: AuditResult, terms: Terms) -> Section:
    """Return what an attacker gains by watching longer."""
    counts = {risk.n_epochs for risk in result.risks if not risk.which} | set(tightest_by_epochs(result.bounds))
    title = "How it grows" if len(counts) > 1 else "What each attack finds"
    if not counts:
        why = "There is no rate and no bound to draw: who is whom is not known, and no bound excludes anything."
        return Section("How it grows", see=why, name="growth")
    see, caution = _around(result, terms, grows=len(counts) > 1)
    how = "The band around a line is its interval." if result.risks and len(counts) > 1 else ""
    if _scale(_lines(result, terms)).log:
        how += f" Each step of the scale is ten times as many {terms.people}."
    figure = Figure(partial(chart, result, terms), _alt(result, terms), _table(result, terms), how.strip())
    said = tuple(text for text in (see, _paired(result, terms)) if text)
    weaker = (*_alone(result, terms), *_weaker(result, terms))
    brief = _brief(result, terms) if len(counts) > (_MANY if terms.axis == "epochs" else 1) and result.risks else None
    return Section(title, said, None, figure, caution, parts=weaker, console=True, brief=brief, name="growth")


def chart(result: AuditResult, terms: Terms, narrow: bool = False) -> Any:
    """Draw risk against the number of periods; where only one number was measured, each attack is a point."""
    drawn = _lines(result, terms)
    scale = _scale(drawn)
    counts = sorted({point.x for line in drawn for point in line.points})
    if len(counts) == 1:
        n = result.risks[0].n_epochs if result.risks else int(counts[0])
        seen = f"{terms.many('period', n)} {_SEEN[terms.axis]}"
        return drawing.row_chart(drawn, scale, f"{terms.people} linked correctly, {seen}".strip(), narrow)
    # 1, 2, 4, … lie at equal distances where they would otherwise lie over each other.
    names = {counts[-1]: "all"} if terms.whole else {}
    far = terms.axis != "epochs" or counts[-1] > _FAR * counts[0]
    ends = [counts[0], counts[-1]]
    x = drawing.across(axis_title(terms), ends, counts, log=far, format="d", names=names)
    return drawing.line_chart(drawn, x, scale, f"{terms.people} linked correctly", terms.periods, narrow, terms.period)


def axis_title(terms: Terms) -> str:
    """Say what an attacker is given more and more of, under a chart."""
    return filled(table("axes")[terms.axis], {}, terms)


def _x(n: int, result: AuditResult, terms: Terms) -> float:
    """Return where a number of periods is drawn; whole records, of any length, come after the most items tried."""
    if n != terms.whole:
        return n
    return 2.0 * max((risk.n_epochs for risk in result.risks if risk.n_epochs < n), default=n / 2)


def _by_attack(result: AuditResult) -> dict[str, list[Risk]]:
    """Return the risks of each attack by growing number of the first periods, the strongest attack first."""
    found: dict[str, list[Risk]] = {}
    for risk in sorted((risk for risk in result.risks if not risk.which), key=lambda risk: risk.n_epochs):
        found.setdefault(risk.attack, []).append(risk)
    order = sorted(found, key=lambda attack: (-found[attack][-1].n_epochs, -found[attack][-1].rate))
    return {attack: found[attack] for attack in order}


def _highest(result: AuditResult) -> dict[str, Risk]:
    """Return the row of each attack with the highest rate, of any periods; the strongest attack first."""
    found: dict[str, Risk] = {}
    for risk in sorted(result.risks, key=lambda risk: (-risk.rate, risk.n_epochs)):
        found.setdefault(risk.attack, risk)
    return found


def _shown(result: AuditResult) -> dict[str, list[Risk]]:
    """Return the risks of the attacks that are drawn: the strongest few, and one more where it would stand alone."""
    names = list(_highest(result))
    most = len(names) if len(names) <= _SHOWN + 1 else _SHOWN
    return {attack: risks for attack, risks in _by_attack(result).items() if attack in names[:most]}


def _guesses(result: AuditResult) -> dict[int, float]:
    counts = {risk.n_epochs: risk.baseline for risk in result.risks if not risk.which}
    return counts or dict.fromkeys(tightest_by_epochs(result.bounds), 1.0 / result.n_targets)


def _lines(result: AuditResult, terms: Terms) -> list[Line]:
    drawn = []
    for number, (attack, risks) in enumerate(_shown(result).items()):
        name = attack_label(attack)
        points = tuple(rated(_x(r.n_epochs, result, terms), r.rate, r.low, r.high) for r in risks)
        style = drawing.ATTACKS[number % len(drawing.ATTACKS)]
        drawn.append(Line(name, name, in_words(points[-1].rate), style, points))
    bounds = tightest_by_epochs(result.bounds)
    if bounds:
        points = tuple(rated(r, b.value, b.low, b.high) for r, b in bounds.items())
        names = {float(r): f"Bound: {terms.spoken(b.name)}" for r, b in bounds.items()}
        last = max(bounds)
        drawn.append(Line(names[last], "Bound", in_words(bounds[last].value), drawing.BOUND, points, names))
    points = tuple(rated(_x(r, result, terms), rate) for r, rate in sorted(_guesses(result).items()))
    drawn.append(Line("Blind guessing", "Blind guessing", points[-1].text, drawing.GUESSING, points))
    return drawn


def _scale(drawn: list[Line]) -> Any:
    """Choose the axis by the attacks and bounds: where these lie close together, guessing may lie at the bottom."""
    found = [line for line in drawn if line.style is not drawing.GUESSING] or drawn
    scale = rate_scale([rate for line in found for point in line.points for rate in (point.rate, point.high)])
    if not scale.log:
        return scale
    return rate_scale([rate for line in drawn for point in line.points for rate in (point.rate, point.high)])


def _table(result: AuditResult, terms: Terms) -> Table:
    """Return every rate of the attacks that are drawn with its interval, blind guessing, and the tightest bound."""
    bounds, guesses, shown = tightest_by_epochs(result.bounds), _guesses(result), _shown(result)
    rows: list[tuple[int, tuple[str, ...]]] = []
    chosen = (one for one in result.risks if one.which and one.attack in shown and terms.axis == "epochs")
    for risk in (*itertools.chain(*shown.values()), *chosen):
        name = linked_by(risk, terms) + (f", {periods_used(risk, terms)}" if risk.which else "")
        rates = (in_words(rate) for rate in (risk.incorrect, risk.abstained, risk.baseline))
        cells = (terms.count(risk.n_epochs), name, *rate_cells(risk.rate, risk.low, risk.high), *rates)
        rows.append((risk.n_epochs, cells))
    for r, bound in bounds.items():
        name = f"Tightest bound: {terms.spoken(bound.name)}"
        guess = in_words(guesses.get(r, bound.baseline))
        rows.append((r, (str(r), name, *rate_cells(bound.value, bound.low, bound.high), "", "", guess)))
    rows.sort(key=lambda row: row[0])
    columns = (terms.periods, "attack", "linked correctly", "interval", "wrong", "no answer", "blind guess")
    return Table(columns, tuple(cells for _, cells in rows), (0, 2, 3, 4, 5, 6))


def _brief(result: AuditResult, terms: Terms) -> Table:
    """Return one row per number of periods, one column per attack that is drawn, the strongest with its interval."""
    found = {attack: {risk.n_epochs: risk for risk in risks} for attack, risks in _shown(result).items()}
    first, *others = sorted(found, key=list(_highest(result)).index)
    rows = []
    for n in sorted({n for risks in found.values() for n in risks}):
        one, rest = found[first].get(n), (found[attack].get(n) for attack in others)
        cells = ("", "") if one is None else rate_cells(one.rate, one.low, one.high)
        rows.append((terms.count(n), *cells, *("" if risk is None else in_words(risk.rate) for risk in rest)))
    columns = (terms.periods, attack_label(first), "interval", *map(attack_label, others))
    return Table(columns, tuple(rows), tuple(range(len(columns))))


def _alone(result: AuditResult, terms: Terms) -> tuple[Section, ...]:
    """Return what each column tells by itself, by whichever attack links most, as a part of the section."""
    best: dict[int, Risk] = {}
    for risk in sorted(result.risks, key=lambda risk: risk.rate):
        if len(risk.which) == 1:
            best[risk.which[0]] = risk
    if terms.axis != "columns" or not best:
        return ()
    told = sorted(best.items(), key=lambda one: (-one[1].rate, one[0]))
    rows = tuple(
        (terms.columns[i], *rate_cells(one.rate, one.low, one.high), attack_label(one.attack)) for i, one in told
    )
    see = f"Each {terms.period} by itself, with the attack that links most {terms.people} by it."
    columns = (terms.period, "linked correctly", "interval", "attack")
    return (Section(f"What each {terms.period} tells alone", see, Table(columns, rows, (1, 2)), console=True),)


def _weaker(result: AuditResult, terms: Terms) -> tuple[Section, ...]:
    """Return the attacks that are not drawn, each at its highest rate, as a part of the section."""
    shown, rows = _shown(result), []
    for attack, risk in _highest(result).items():
        if attack not in shown:
            cells = (*rate_cells(risk.rate, risk.low, risk.high), in_words(risk.incorrect), in_words(risk.abstained))
            used = periods_used(risk, terms) if risk.which else terms.count(risk.n_epochs)
            rows.append((attack_label(attack), used, *cells))
    if not rows:
        return ()
    columns = ("attack", terms.periods, "linked correctly", "interval", "wrong", "no answer")
    most = "periods at which" if terms.axis == "epochs" else "number of periods with which"
    most = most.replace("periods", terms.periods)
    see = f"Each with the {most} it links most {terms.people}; the result holds all of its rates."
    return (Section("The weaker attacks", see, Table(columns, tuple(rows), (2, 3, 4, 5)), console=True),)


def _around(result: AuditResult, terms: Terms, grows: bool) -> tuple[str, str]:
    """Return what to see in the chart, and what not to conclude."""
    bounds, risk = tightest_by_epochs(result.bounds), result.strongest
    if risk is None:
        caution = "Do not read a bound as a rate: it says what cannot be exceeded, not what was reached."
        return "No rate was measured. See what the tightest bound allows.", caution
    see = f"See how much an attacker gains: {_gain(risk, _by_attack(result), terms)}."
    if grows:
        caution = "Do not extend the lines beyond what was measured, nor read them as the most any attacker can do."
    else:
        caution = f"Do not conclude anything about more {terms.periods}, nor read this as the most an attacker can do."
    if risk.which:
        used = periods_used(risk, terms)
        see += f" With {used}, {attack_label(risk.attack)} links {people(risk.rate, terms.people)}: others tell less."
    elif risk.n_epochs == max(bounds, default=None):
        bound = bounds[risk.n_epochs]
        named = f"tightest bound that says something ({terms.spoken(bound.name)}, {in_words(bound.value)})"
        if risk.high >= bound.value:
            caution += f" The strongest attack comes close to the {named}."
        else:
            caution += f" The {named} leaves room above the attacks for better ones."
    return see, caution


def _gain(best: Risk, found: dict[str, list[Risk]], terms: Terms) -> str:
    """Say what the strongest attack links after the fewest periods and the most, and where it links most of all."""
    risks = found.get(best.attack, [best])
    told = {risks[0].n_epochs, max(risks, key=lambda risk: risk.rate).n_epochs, risks[-1].n_epochs}
    after = "after" if terms.axis == "epochs" else "with"
    rates = [
        f"{people(risk.rate, terms.people)} {after} "
        + (terms.many("period", risk.n_epochs) if not i or risk.n_epochs == terms.whole else f"{risk.n_epochs:,}")
        for i, risk in enumerate(one for one in risks if one.n_epochs in told)
    ]
    name = linked_by(best, terms) + (", the strongest attack tried," if len(found) > 1 else "")
    return f"{name} links {joined(rates)}"


def _alt(result: AuditResult, terms: Terms) -> str:
    heard = "; ".join(
        f"{line.name}: " + ", ".join(f"{point.text} at {point.x:g}" for point in line.points)
        for line in _lines(result, terms)
    )
    return f"Share of {terms.people} linked correctly, by {axis_title(terms)}. {heard}."


def _paired(result: AuditResult, terms: Terms) -> str:
    """Say how the strongest and the plainest attack differ at the periods of the strongest row, on the same records."""
    worst = result.strongest
    most = 0 if worst is None else max(result.epochs) if worst.which else worst.n_epochs
    gaps = [gap for gap in result.differences if gap.n_epochs == most]
    if not gaps:
        return ""
    gap, at = max(gaps, key=lambda gap: gap.difference), terms.at(most)
    one, other = attack_label(gap.attack), attack_label(gap.other)
    if gap.low <= 0.0 <= gap.high:
        return f"On the same {terms.records}, {one} and {other} cannot be told apart {at}."
    (more, less), sign = ((one, other), 1.0) if gap.low > 0.0 else ((other, one), -1.0)
    about = with_interval(sign * gap.difference, *sorted((sign * gap.low, sign * gap.high)))
    return phrase("growth.paired", terms, more=more, about=about, less=less, at=at)
