"""Sentences about the noise of a release: whether it is there, enough for the budget, and stands up to an attack."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from reidrisk.present.words import clause, joined, percent, phrase, reads, says, sentence, table
from reidrisk.present.words.release import kinds

if TYPE_CHECKING:
    from reidrisk.base.notes import Note
    from reidrisk.present.terms import Terms
    from reidrisk.release import CanaryTest, NoiseBudget, NoiseFit


@reads("NoiseFit")
def _noise(result: NoiseFit, terms: Terms) -> str:
    if result.why is not None:
        return f"The noise in the file was not examined: {clause(sentence(result.why, terms))}."
    if not result.fits:
        said = [sentence(trouble, terms) for trouble in result.troubles]
        return " ".join(["The counts in the file do not fit the stated noise.", *said])
    found = [_differ(result.to_dict())] if result.n_sums else []
    found += [_alike(name, numbers["ratio"]) for name, numbers in result.alike.items()]
    if result.n_near:
        within, most = (
            sum(table["near"] * table[name] for table in result.tables.values()) / result.n_near
            for name in ("within", "expected")
        )
        found.append(phrase("noise.near-empty", terms, result=result, within=within, most=most))
    return " ".join(["The spread of the counts in the file fits the stated noise.", *found])


_ALIKE = table("alike")


def _differ(numbers: Mapping[str, Any], tables: Sequence[str] = ()) -> str:
    where = f" in {joined(tables)}" if tables else ""
    if numbers["ratio"] == 0.0:
        return f"Sums of counts{where} that differ by noise alone agree exactly."
    ratio, low, high = (_multiple(numbers[name]) for name in ("ratio", "low", "high"))
    return (
        f"Sums of counts{where} that would be equal without noise differ by {ratio} ({low} to {high}) times as much as "
        "noise of the stated size makes them differ."
    )


def _alike(what: str, ratio: float) -> str:
    least = "times the least that noise of the stated size makes them differ"
    return f"{_ALIKE[what]} differ by {_multiple(ratio)} {least}."


def _multiple(value: float) -> str:
    return f"{value:.2f}" if value >= 0.1 else f"{value:.2g}"


@says("sums-agree-too-well")
def _too_well(note: Note, _terms: Terms) -> str:
    return f"{_differ(note, note.get('tables', ()))} There is less noise than stated."


@says("sums-differ-too-much")
def _too_much(note: Note, _terms: Terms) -> str:
    return f"{_differ(note, note.get('tables', ()))} The statement is not of these counts."


@says("alike-agree-too-well")
def _alike_too_well(note: Note, _terms: Terms) -> str:
    return f"{_alike(note['what'], note['ratio'])} There is less noise than stated."


@says("too-near-zero")
def _near_zero(note: Note, _terms: Terms) -> str:
    first, *others = note["tables"]
    where = f"lie within {note['within']:.3g} of 0" if note["within"] else "are exactly 0"
    also = f" The same holds in {joined(others)}." if others else ""
    return (
        f"In {first}, {percent(note['share'])} of {note['n']:,} near-empty counts {where}, where noise of the stated "
        f"size puts at most {percent(note['expected'])}. There is less noise than stated.{also}"
    )


@says("statistics-not-of-counts")
def _not_of_counts(note: Note, terms: Terms) -> str:
    return f"The statistics of {kinds(terms)[note['kind']]} do not follow from the noisy counts."


@says("noise-test-power")
def _test_power(note: Note, _terms: Terms) -> str:
    kind = "differences of alike counts" if note["alike"] else "differences of sums"
    return phrase("noise.test-power", _terms, n=note["n"], kind=kind, half=note["finds_half"])


@says("noise-table-power")
def _table_power(note: Note, _terms: Terms) -> str:
    each = [f"{percent(power)} in {table}" for table, power in zip(note["tables"], note["powers"], strict=True)]
    return f"Half of the noise missing in one table alone would show with a probability of {joined(each)}."


@says("noise-does-not-show")
def _does_not_show(note: Note, _terms: Terms) -> str:
    where = f" in {joined(note['tables'])}" if note.get("tables") else ""
    return f"Too few counts are empty, and too few would be alike without noise, to show its size{where}."


@reads("NoiseBudget")
def _budget(result: NoiseBudget, terms: Terms) -> str:
    if result.enough is None:
        why = "" if result.why is None else f": {clause(sentence(result.why, terms))}"
        return f"Whether the stated noise is enough for the stated epsilon and delta was not examined{why}."
    if result.why is not None:
        return sentence(result.why, terms)
    at = f"at epsilon {result.epsilon:.3g} its delta is {result.delta_promised:.2g}"
    if result.enough:
        return f"The stated noise is enough for the stated epsilon and delta: {at}, and {result.delta:.2g} is allowed."
    told = "The stated noise is too small for the stated epsilon and delta"
    if result.delta_promised > result.delta:
        return f"{told}: {at}, not {result.delta:.2g}."
    return f"{told}, by the accounting of discrete noise."


@reads("CanaryTest")
def _canary(result: CanaryTest, _terms: Terms) -> str:
    told = (
        "Shown one release with and one without a person, the best attacker picks the right one in "
        f"{100 * result.area:.1f} of 100 tries ({100 * result.area_low:.1f} to {100 * result.area_high:.1f}; blind "
        f"guessing: 50); the promised noise allows {100 * result.area_promised:.1f}."
    )
    if result.furthest > 1.0 + 1e-9:
        return phrase("noise.canary-moves", _terms, result=result, told=told)
    if not result.within_budget:
        return f"The stated noise is too small for the stated epsilon and delta. {told}"
    if not result.passed:
        return f"There is less noise than promised. {told}"
    padded = "Short sets are padded so that one more person changes nobody else's."
    return f"Noise of the stated size keeps the promise. {told} {padded}"
