"""What no attacker can beat: every bound, the tightest marked, and what each rests on."""

import math
from collections.abc import Sequence

from reidrisk.audit import AuditResult, exceeds
from reidrisk.base.results import Bound
from reidrisk.bounds import tightest_by_epochs, tightest_of
from reidrisk.present import Cell, Section, Table, Terms, words
from reidrisk.present.sections.written import written
from reidrisk.present.words.bounds import setting_name
from reidrisk.present.words.frequencies import capital, clause, in_words, interval, people, two_digits

_SETTINGS = ("seed", "level")  # inputs of a bound that are about how it was computed and not about the system


def section(result: AuditResult, terms: Terms) -> Section | None:
    """Return the bounds; one that says nothing is listed too, which is part of the answer."""
    if not result.bounds and result.axis != "epochs":
        return None  # there are bounds for systems that show one item per period
    if not result.bounds:
        none = "No bound could be computed for this data: nothing is excluded beyond what was measured."
        return written("audit.bounds", terms, {"see": none})
    assumed = dict.fromkeys(words.sentence(note, terms) for bound in result.bounds for note in bound.notes)
    letters = {text: chr(ord("A") + i) if i < 26 else f"A{i}" for i, text in enumerate(assumed)}
    rests = Table(("letter", "assumption"), tuple((letter, text) for text, letter in letters.items()))
    parts = (
        written("audit.each", terms, table=_table(result, letters, terms)),
        *((Section("", table=rests, name="letters"),) if letters else ()),
        Section("Each bound in words, with what it follows from", table=_readings(result, terms), folded=True),
    )
    return written("audit.bounds", terms, {"see": _summary(result, terms)}, parts=parts, console=True)


def name_of(bound: Bound, terms: Terms) -> str:
    """Name a bound, and say where it holds within a model of people only."""
    return capital(terms.spoken(bound.name)) + (" (within its model)" if bound.within_model else "")


def _kinds(bounds: Sequence[Bound]) -> dict[tuple[str, str], dict[int | None, Bound]]:
    """Return the bounds by setting and name, those for one record first, and by number of periods."""
    kinds: dict[tuple[str, str], dict[int | None, Bound]] = {}
    for bound in sorted(bounds, key=lambda b: (b.setting != "random user", b.name, b.n_epochs or 0)):
        kinds.setdefault((bound.setting, bound.name), {})[bound.n_epochs] = bound
    return kinds


def _table(result: AuditResult, letters: dict[str, str], terms: Terms) -> Table:
    """Return a row per bound and a column per number of periods."""
    counts = sorted({bound.n_epochs for bound in result.bounds}, key=lambda count: count or 0)
    best = {
        tightest_of([b for b in result.bounds if (b.setting, b.n_epochs) == place])
        for place in {(b.setting, b.n_epochs) for b in result.bounds}
    }
    rows = []
    for (setting, _), found in _kinds(result.bounds).items():
        named = dict.fromkeys(letters[words.sentence(note, terms)] for b in found.values() for note in b.notes)
        small = setting_name(setting, terms) + (f"; assumes {', '.join(named)}" if named else "")
        cells = (_cell(found.get(count), result, found.get(count) in best) for count in counts)
        rows.append((Cell(name_of(next(iter(found.values())), terms), small), *cells))
    heads = (terms.many("period", count) if count else f"any number of {terms.periods}" for count in counts)
    return Table(("no attacker links more than", *heads), tuple(rows), tuple(range(1, len(counts) + 1)))


def _cell(bound: Bound | None, result: AuditResult, best: bool) -> Cell:
    if bound is None:
        return Cell("not computed", soft=True)
    if not bound.says_something:
        return Cell("says nothing here", soft=True)
    tag = "exceeded here" if exceeds(result.risks, bound) else "tightest" if best else ""
    return Cell(in_words(bound.value), interval(bound.value, bound.low, bound.high), tag)


def _readings(result: AuditResult, terms: Terms) -> Table:
    rows = []
    for found in _kinds(result.bounds).values():
        for bound in found.values():
            at = f", {terms.many('period', bound.n_epochs)}" if bound.n_epochs else ""
            inputs = [(name, value) for name, value in bound.inputs.items() if name not in _SETTINGS]
            given = ", ".join(f"{terms.spoken(name)} {_input(value)}" for name, value in inputs)
            rows.append((name_of(bound, terms) + at, given or "nothing else", words.reading(bound, terms)))
    return Table(("bound", "follows from", "in words"), tuple(rows))


def _summary(result: AuditResult, terms: Terms) -> str:
    """Say what the bounds amount to at the periods of the strongest row."""
    risk = result.strongest
    # What limits an attacker with all periods limits one who chooses among them.
    most = risk.n_epochs if risk is not None and not risk.which else max(b.n_epochs or 0 for b in result.bounds)
    at = terms.many("period", most)
    bound = tightest_by_epochs(result.bounds).get(most)
    modelled = [b for b in result.bounds if b.within_model and b.n_epochs == most and b.says_something]
    if bound is None:
        said = f"At {at} no bound excludes anything: better attacks than those tried cannot be ruled out."
        return said + _within_model(modelled, result, terms)
    said = f"At {at} the tightest bound for linking one {terms.record} at a time is {people(bound.value)}"
    said += f" ({terms.spoken(bound.name)})."
    if bound.setting == "matching":
        said += f" It limits an attacker who links all {terms.records} together, and so also one who links them singly."
    if bound.notes:
        said += f" It rests on this: {'; '.join(clause(words.sentence(note, terms)) for note in bound.notes)}."
    if risk is not None:
        said += f" The strongest attack tried reaches {people(risk.rate)}; what lies between is not known."
    if any(b.value > bound.value for b in result.bounds if b.n_epochs == most and b.setting == bound.setting):
        said += " The other proven bounds are looser."
    return said + _within_model([b for b in modelled if b.value < bound.value], result, terms)


def _within_model(lower: list[Bound], result: AuditResult, terms: Terms) -> str:
    """Say what a lower bound within a model of people is worth here."""
    if not lower:
        return ""
    said = f" {capital(terms.spoken(lower[0].name))} allows {people(lower[0].value)}, but holds only within its model: "
    if exceeds(result.risks, lower[0]):
        return f"{said}an attack exceeded it here, so people are not as that model takes them. It limits nobody."
    return f"{said}an attacker who knows more about people than the model does may exceed it."


def _input(value: float) -> str:
    if not math.isfinite(value):
        return "infinite" if value > 0 else "unknown"
    if value == int(value) and abs(value) < 1e9:
        return f"{int(value):,}"
    return two_digits(value) if 1e-4 <= abs(value) < 1e6 else f"{value:.1e}"
