"""How two tables were read and what an audit's numbers rest on, each with what happens where it does not hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from reidrisk.base.notes import Note
from reidrisk.present.terms import Terms, plural, terms_of_columns
from reidrisk.present.words import CHECK, Assumed, attack_label, in_words, joined, percent, says, table, texts

if TYPE_CHECKING:
    from reidrisk.audit import AuditResult


def of_system(result: AuditResult) -> Mapping[str, Any]:
    """Return the words for the system that was audited; none where it has no words of its own."""
    return _of_system(result.spec)


def _of_system(spec: Mapping[str, Any]) -> Mapping[str, Any]:
    found: Mapping[str, Any] = texts("choices")["systems"].get(spec.get("system"), {})
    return found


def terms_of_spec(spec: Mapping[str, Any]) -> Terms:
    """Return the words of the reader's own data before anything is read: by the system, and the columns that are named.

    >>> terms_of_spec({"system": "topics"}).periods
    'weeks'
    >>> terms_of_spec({"inputs": {"reading": {"user": "patient", "every": "month"}}}).many("period", 3)
    '3 months'
    """
    system = _of_system(spec)
    if system:
        return Terms(item=system["item"], period=system["period"])
    reading = (spec.get("inputs") or {}).get("reading") or {}
    return _by_the(reading.get("every"), terms_of_columns(reading.get("user"), reading.get("items") or ()))


def _by_the(every: Any, terms: Terms) -> Terms:
    return replace(terms, period=every) if every in ("day", "week", "month") else terms


def terms_of(result: AuditResult) -> Terms:
    """Return the words of the reader's own data, as far as the audit knows them: by the names of the columns read."""
    system = of_system(result)
    if system:
        return along(Terms(item=system["item"], period=system["period"]), result)
    read = [note for note in result.notes if note.code == "understood-as"]
    terms = Terms()
    if read:
        places = any(note["place"] for note in read)
        terms = terms_of_columns(read[0]["user"], [name for note in read for name in note["items"]], places)
    return along(_by_the((result.spec.get("inputs", {}).get("reading") or {}).get("every"), terms), result)


def along(terms: Terms, result: AuditResult) -> Terms:
    """Return the same words, with those for what the attacker is given more and more of in this result."""
    if result.axis == "epochs":
        every = None if result.scenario is None else result.scenario.get("every")
        named = terms.period if terms.axis == "epochs" else "period"
        return replace(terms, period=every if every in ("day", "week", "month") else named, axis="epochs", whole=0)
    if result.axis == "dimensions":
        record = "record" if any(note.code == "several-vectors" for note in result.notes) else "vector"
        return replace(terms, period="dimension", item="vector", record=record, axis=result.axis, whole=result.n_epochs)
    if result.axis == "columns" or result.kind == "attributes":
        names = _columns(result) if result.axis == "columns" else ()
        return replace(terms, period="attribute", item="value", axis=result.axis, columns=names)
    return replace(terms, period=terms.item, axis=result.axis, whole=result.n_epochs if result.axis == "items" else 0)


def _columns(result: AuditResult) -> tuple[str, ...]:
    """Return the names of the columns, as far as they are noted."""
    asked = () if result.scenario is None else result.scenario.get("columns", ())
    read = [note["items"] for note in result.notes if note.code == "understood-as"]
    fits = (tuple(names) for names in (asked, *read) if len(names) == result.n_epochs)
    return next(fits, tuple(f"number {i + 1}" for i in range(result.n_epochs)))


@says("own-words")
def _own_words(note: Note, terms: Terms) -> Assumed:
    return Assumed(note["holds"], note.get("otherwise") or CHECK)


@says("vocabulary-from-data")
def _vocabulary(note: Note, terms: Terms) -> Assumed:
    where = "the two tables" if note["tables"] == 2 else "the table"
    taken = f"up to the largest that occurs in {where}" if note["numbers"] else f"that occur in {where}"
    size = "give its full size with n_tokens if the system has more"
    return Assumed(f"The vocabulary was taken from the {terms.items} {taken} ({note['n']:,}); {size}.", CHECK)


@says("system-unknown")
def _unknown(note: Note, terms: Terms) -> Assumed:
    random = f"a random {terms.item} with probability"
    noise = f"{random} {percent(note['noise'])}" if note["noise"] else "no noise was declared"
    return Assumed(
        f"The system is not known: {noise}, and two observers of one {terms.person} are taken to see the same "
        f"{terms.item} once in {note['top_k']} times.",
        f"Rates stay true for the attacks that ran, but one who knows the system better may find more {terms.people}.",
    )


_COVERS = table("covers")


@says("all-scored")
def _all_scored(note: Note, terms: Terms) -> Assumed:
    """Say what the intervals of everyone allow for, attack by attack where they differ."""
    kinds = {covers: attacks for covers, attacks in note["covers"].items() if attacks}
    said = []
    for covers, attacks in kinds.items():
        whose = f" of {joined(list(map(attack_label, attacks)))}" if len(kinds) > 1 else ""
        said.append(f"The intervals{whose} {_COVERS[covers].format(records=terms.records)}.")
    scored = "The only record was" if note["n"] == 1 else f"All {note['n']:,} {terms.records} were"
    return Assumed(f"{scored} scored: rates are exact for these people.", " ".join(said))


@says("periods-compared")
def _compared(note: Note, terms: Terms) -> Assumed:
    numbered = (", ".join(str(epoch + 1) for epoch in which) for which in note["chosen"])
    found = f"no other {terms.periods} tell more"
    if note["chosen"]:
        found = f"those that tell most were tried too: {'; '.join(numbered)}"
        found += " (bounds that do not hold for these are left out)"
    return Assumed(
        f"Rates and bounds for some of the {terms.periods} use the first ones; measured one at a time, {found}.",
        f"An attacker who chooses {terms.periods} in another way may link more {terms.people} than stated.",
    )


_ALONE = {
    "few": "since there are too few {records}",
    "more-queries": "since there are more {records} to identify than known ones",
    "too-many": "since there are too many pairs to weigh all {records} against each other",
    "several": "since some {people} seem to have several {records} to identify, or links are surer than they should be",
}


@says("linked-alone")
def _linked_alone(note: Note, terms: Terms) -> Assumed:
    why = _ALONE[note["why"]].format(record=terms.record, records=terms.records, people=terms.people)
    return Assumed(
        f"{attack_label(note['attack'])} linked each {terms.record} by itself, {why}.",
        f"Where each {terms.person} has one, an attacker who uses that may link more {terms.people}.",
    )


@says("clocks-apart")
def _clocks(note: Note, terms: Terms) -> Assumed:
    hours = abs(note["hours"])
    far = f"{hours:g} {'hour' if hours == 1 else 'hours'} {'ahead of' if note['hours'] > 0 else 'behind'}"
    shown = "have the same at the same moments" if note["by"] == "moments" else "keep to the same hours of the day"
    return Assumed(
        f"The clock of the second table seems to be {far} the first one's: moved by that, {terms.people} who are alike "
        f"in what they hold {shown}. Its times were moved before the tables were compared.",
        f"If both clocks do agree, an attacker who goes by the hours may link more {terms.people} than stated.",
    )


@says("attack-not-run")
def _not_run(note: Note, terms: Terms) -> Assumed:
    return Assumed(not_run([note["attack"]], note["why"], terms), "Run it: give more time with --budget.")


def not_run(attacks: Sequence[str], why: str, terms: Terms) -> str:
    """Say of which attacks nothing is known, for one reason."""
    names = attacks_named(attacks)
    were, it, they = ("was", "it", "It") if len(attacks) == 1 else ("were", "them", "They")
    said = {
        "time": f"{names} {were} not run: there was not enough time to try {it} on enough {terms.people}",
        "not asked": f"{names} {were} not run: other attacks were asked for",
        "nothing to learn": f"{names} {were} not run: there was nothing to learn from in these {terms.records}",
        "stored": f"{names} {were} not run: all known {terms.records} would have to be in memory",
        "few people": f"{names} {were} tried on too few {terms.people} to count",
    }[why]
    return f"{said}. {they} may link more {terms.people} than is said here."


def attacks_named(names: Sequence[str]) -> str:
    """Name attacks, given by their names in the registry, as in a sentence."""
    from reidrisk.attacks.registry import entry  # loads numba, which who reads other sentences may not have

    return joined([attack_label(entry(name).attack.__name__) for name in names])


@says("left-out")
def _left_out(note: Note, terms: Terms) -> Assumed:
    counts = (("group", "", note["groups"]), ("row", " on how sure an attacker can be", note["thresholds"]))
    said = joined([f"{n:,} {plural(what, n)}{about}" for what, about, n in counts if n])
    return Assumed(
        f"Numbers about fewer than {note['least']:,} {terms.people} are left out: {said}.",
        "They say nothing about the risk: small groups among those left out may be at a higher or a lower one.",
    )


@says("no-direction")
def _zeros(note: Note, terms: Terms) -> Assumed:
    hold, have = ("holds", "has") if note["n"] == 1 else ("hold", "have")
    return Assumed(
        f"Of {note['of']:,} vectors, {note['n']:,} {hold} zeros only and {have} no direction, so that some attacks "
        "which compare directions (cosine) were not tried.",
        "They may find more people than those that ran: leave such records out, and run it again.",
    )


@says("order-tells")
def _order(note: Note, terms: Terms) -> Assumed:
    what = f"ids of true pairs rise together: the {terms.people} were numbered in one order"
    if note["by"] == "rows":
        what = f"rows of true pairs come in one order in both tables (rank correlation {note['correlation']:.2f})"
    return Assumed(
        f"{what[:1].upper() + what[1:]}. Whoever has both tables can pair {terms.people} without looking at a single "
        f"{terms.item}, and no rate here counts that.",
        "Shuffle the rows, and draw ids at random, before a table is handed out.",
    )


@says("cells-carried-by")
def _carried(note: Note, terms: Terms) -> Assumed:
    """Say which columns gave people away, and whether the rest of the audit looks at them."""
    columns = joined([repr(name) for name in note["columns"]])
    unused = note["unused"]
    held = f"{attack_label(note['attack'])} went by {columns}: {percent(note['share'])} of what true pairs share."
    if unused:
        held += f" No other attack looks at {joined([repr(name) for name in unused])}."
    return Assumed(held, "Leave such columns out, or make them coarser, before a table is handed out.")


@says("presence-identifies")
def _presence(note: Note, terms: Terms) -> Assumed:
    found = f"an attacker links {in_words(note['rate'])} {terms.people} correctly among {note['among']:,}"
    if terms.axis != "epochs":
        return Assumed(
            f"Gaps are enough: by which {terms.periods} are filled in, whatever they hold, {found}.",
            f"Coarser {terms.items} do not help against this: fill gaps, or hide them on one side.",
        )
    seen = f"by the {terms.periods} in which anything was seen, whatever it was"
    return Assumed(
        f"Knowing when somebody was there is enough: {seen}, {found}.",
        f"Coarser or fewer {terms.items} do not help against this: fill gaps, or hide them on one side.",
    )
