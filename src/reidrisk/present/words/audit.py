"""What an audit's numbers rest on, each with what happens where it does not hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reidrisk.base.notes import Note
from reidrisk.present.terms import Terms, plural
from reidrisk.present.words.frequencies import attack_label, joined, percent
from reidrisk.present.words.reading_in import CHECK
from reidrisk.present.words.register import Assumed, say, says

if TYPE_CHECKING:
    from reidrisk.audit import AuditResult


def terms_of(result: AuditResult) -> Terms:
    """Return the words of the reader's own data, as far as the audit knows them."""
    return Terms(item="topic", period="week") if result.spec.get("system") == "topics" else Terms()


say(
    {
        "no-truth": (
            "Who is whom is not known, so no rate was measured. How sure an attack is, is said only where its "
            "probabilities held in a rehearsal: halves of the known {records}, linked to each other.",
            "Two tables can differ more than two halves of one, and then the probabilities are too high; true pairs "
            "would tell.",
        ),
        "closed-world": (
            "The attacker has these two tables and nothing else (a closed world).",
            "With any further source (addresses, fingerprints, sign-ins) more {people} can be linked than stated here.",
        ),
        "system-topics": (
            "The {items} come from the Topics API: one of a {person}'s top {top_k} per {period}, and a random one with "
            "probability {noise:share}.",
            "With other parameters, attacks that know the system find fewer {people} than they could.",
        ),
        "vocabulary": (
            "The system can show {n:,} different {items}.",
            "Noise is spread over all of them: if there are more, attacks that know the system gain a little.",
        ),
        "attack-left-out": (
            "The attacks that ran compare {period} by {period}; {attack}, which learns what lasts, was not run.",
            "It links more {people} the more {periods} there are: ask for it, where tables are large with a sample.",
        ),
        "gaps": (
            "{targets:share} of the known {records}' {items} and {queries:share} of the others' are missing, and are "
            "missing for reasons that have nothing to do with who a {person} is.",
            "If gaps themselves are telling (the same {periods} away on both sides), more {people} can be linked than "
            "stated.",
        ),
        "sample-drawn": (
            "The rates were measured on {n:,} of {of:,} {records}, drawn at random; the attacker saw all of them.",
            "The intervals cover this draw among these {people}. Scored all together, their rate would be exact; other "
            "{people} would differ more than the intervals say.",
        ),
        "strangers-drawn": (
            "Of the {records} drawn, {n:,} belong to nobody among the known {records}; rates are about the {scored:,} "
            "that have a counterpart.",
            "An attacker who cannot tell who has none also makes wrong links for them; no rate here counts these.",
        ),
        "people-independent": (
            "{people:capital} are independent of each other.",
            "Where they are not (shared devices, households), the true intervals are wider than stated.",
        ),
        "truth-suspected": (
            "The truth may be wrong: {records} come closer to a known one than strangers, some of these links are "
            "called wrong, and there are too few of them to exclude that half of the true pairs are wrong.",
            "Wrong pairs make every rate too low: check a few by hand, then audit again, more {people} if possible.",
        ),
        "truth-not-checked": (
            "The truth could not be checked: too few {records} come clearly closer to a known one than strangers.",
            "Wrong pairs would look the same and make every rate too low: check a few pairs by hand.",
        ),
        "model-exceeded": (
            "At {n_epochs:period} {attack:attack} links more {people} than '{bound}' allows ({rate:share} against "
            "{value:share}).",
            "So {people} are not as that model takes them: interests last, and it has every {period} start anew. Do "
            "not quote it as a limit here.",
        ),
        "periods-without-items": (
            "In the first {skipped:list} {periods} one of the tables holds no {item}, so nothing was measured there.",
            "Where {items} are missing because a table starts late, cut both tables to the {periods} they share.",
        ),
        "simulated-people": (
            "The {people} are simulated: a population calibrated on figures printed in two papers.",
            "Real {people} have habits these figures do not show; their risk can be higher or lower.",
        ),
        "same-file-twice": (
            "Both tables are the same file, so everyone agrees with themselves.",
            "Give what two different observers saw: these rates say nothing about that.",
        ),
        "format-1": (
            "This result was written in format 1: its intervals are too narrow where everyone was scored, and {people} "
            "without a counterpart dilute its rates.",
            "Audit again: the gate answers 'undecided' unless the limit is exceeded in any case.",
        ),
    }
)


@says("own-words")
def _own_words(note: Note, terms: Terms) -> Assumed:
    return Assumed(note["holds"], note.get("otherwise") or CHECK)


@says("system-unknown")
def _unknown(note: Note, terms: Terms) -> Assumed:
    noise = "no noise was declared"
    if note["noise"]:
        noise = f"a random {terms.item} with probability {percent(note['noise'])}"
    return Assumed(
        f"The system is not known: {noise}, and two observers of one {terms.person} are taken to see the same "
        f"{terms.item} once in {note['top_k']} times.",
        f"Rates stay true for the attacks that ran, but one who knows the system better may find more {terms.people}.",
    )


@says("all-observed")
def _all_observed(note: Note, terms: Terms) -> Assumed:
    when = f"all {note['n']} {terms.periods}" if note["n"] > 1 else f"the one {terms.period} there is"
    return Assumed(
        f"Everyone was observed by both in {when}.",
        f"Those who come less often leave shorter {terms.records} and are harder to link.",
    )


_COVERS = {
    "people": "speak about other people like these in both tables, not about measurement error",
    "queries": "cover other {records} to identify among the same known ones, not other people among the known, with "
    "whom the rate can move further",
    "none": "promise nothing, since links depend on all {records} together",
}


@says("all-scored")
def _all_scored(note: Note, terms: Terms) -> Assumed:
    """Say what the intervals of everyone allow for, attack by attack where they differ."""
    kinds = {covers: attacks for covers, attacks in note["covers"].items() if attacks}
    said = []
    for covers, attacks in kinds.items():
        whose = f" of {', '.join(map(attack_label, attacks))}" if len(kinds) > 1 else ""
        said.append(f"The intervals{whose} {_COVERS[covers].format(records=terms.records)}.")
    return Assumed(f"All {note['n']:,} {terms.records} were scored: rates are exact for these people.", " ".join(said))


@says("truth-in-doubt")
def _doubt(note: Note, terms: Terms) -> Assumed:
    close = "many" if note["close"] is None else f"{note['close']:,}"
    return Assumed(
        f"The truth is in doubt: of {note['asked']:,} {terms.records}, {attack_label(note['attack'])} at "
        f"{terms.many('period', note['n_epochs'])} links {close} closely, far more than of strangers, and too many "
        "of these links are called wrong.",
        "Rows in another order or ids given anew make every rate too low: check a few pairs by hand, then audit again.",
    )


@says("periods-compared")
def _compared(note: Note, terms: Terms) -> Assumed:
    numbered = (", ".join(str(epoch + 1) for epoch in which) for which in note["chosen"])
    found = f"those that tell most were tried too: {'; '.join(numbered)}" if note["chosen"] else "no others tell more"
    return Assumed(
        f"Rates and bounds at fewer {terms.periods} than there are concern the first ones; {terms.period} by "
        f"{terms.period}, {found}{' (bounds that do not hold for these are left out)' if note['chosen'] else ''}.",
        f"An attacker who chooses {terms.periods} in another way may link more {terms.people} than stated.",
    )


@says("own-attacks")
def _own_attacks(note: Note, terms: Terms) -> Assumed:
    were = "was" if len(note["names"]) == 1 else "were"
    return Assumed(
        f"{joined(list(note['names']))} {were} handed over as an object, beside the saved spec.",
        "To run the audit again, keep that code with the spec: the spec alone leaves it out.",
    )


@says("left-out")
def _left_out(note: Note, terms: Terms) -> Assumed:
    counts = ((plural("group", note["groups"]), note["groups"]), ("degrees of sureness", note["thresholds"]))
    said = joined([f"{n:,} {what}" for what, n in counts if n])
    return Assumed(
        f"Numbers that tell of fewer than {note['least']:,} {terms.people} are left out: {said}.",
        "They say nothing about the risk: small groups among those left out may be at a higher or a lower one.",
    )
