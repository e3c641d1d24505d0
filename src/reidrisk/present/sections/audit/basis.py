"""What an audit rests on: assumptions, what it does not tell, and the methods."""

import json
from dataclasses import replace

from reidrisk.audit import AuditResult
from reidrisk.base.notes import Note
from reidrisk.present import Section, Table, Terms, words
from reidrisk.present.sections.audit.asked import READ, told
from reidrisk.present.sections.audit.bounds import name_of
from reidrisk.present.sections.basis import assumed
from reidrisk.present.sections.written import text, written
from reidrisk.present.words.audit import along
from reidrisk.present.words.frequencies import attack_label, two_digits

_ROLES = {"targets": "the known records", "queries": "the records to identify", "truth": "the true pairs"}


def assumptions(result: AuditResult, terms: Terms) -> Section | None:
    """Return what the numbers rest on, each with what happens where it does not hold."""
    section = assumed([note for note in result.notes if not _is_told(note, result)], terms)
    if section is None or section.table is None:
        return section
    rows = list(section.table.rows)
    for place, answer in enumerate(result.also, start=2):
        own = along(terms, answer)
        said = (words.assumed(note, own) for note in answer.notes if not _is_told(note, result))
        holds = {row[0] for row in rows}
        more = [one for one in said if one.holds not in holds]
        rows += [(f"Question {place}: {one.holds}", one.otherwise) for one in more]
    table = replace(section.table, rows=tuple(rows))
    return replace(section, table=table, see=f"Every number here rests on these sentences. Seed: {result.seed}.")


def _is_told(note: Note, result: AuditResult) -> bool:
    """Whether a note is about what was read, which has a section of its own."""
    return note.code in READ and told(result)


def untold(result: AuditResult, terms: Terms) -> Section:
    """Return what the audit does not tell."""
    said = text("audit.untold", terms)
    return Section(said["title"], table=Table(("not asked", "why it matters"), said["rows"]), name="untold")


def methods(result: AuditResult, terms: Terms) -> Section:
    """Return the attacks, where the bounds are proven, and how to run the audit again."""
    attacks = tuple((attack_label(name), terms.spoken(text)) for name, text in result.descriptions.items())
    proven = (bound for bound in result.bounds if bound.reference)
    proofs = dict.fromkeys((name_of(bound, terms), terms.spoken(bound.reference)) for bound in proven)
    level = float(result.spec.get("level", 0.95))
    carey = "carey is Carey et al., Measuring re-identification risk."
    bounds = Section("The bounds", table=Table(("bound", "reference"), tuple(proofs)), caution=carey)
    return Section(
        "Methods and how to run it again",
        parts=(
            written("audit.attacks", terms, {"level": level}, table=Table(("attack", "what it does"), attacks)),
            *((bounds,) if proofs else ()),
            _again(result),
        ),
        name="methods",
    )


def _again(result: AuditResult) -> Section:
    sums = result.fingerprints
    see = "Save the spec below as spec.json, next to the same input, and run the command"
    code = "reidrisk audit --spec spec.json"
    if result.spec.get("inputs", {}).get("kind") == "memory":
        door = "audit_traces" if result.axis == "epochs" else "audit_case"
        see = f"The tables were handed over in memory. Hand the same ones to reidrisk.audit.{door} with this spec"
        code = ""
    see += "; it gives the same numbers."
    facts = [("Seed", str(result.seed))]
    if sums:
        method = "plain SHA-256" if sums.method == "sha256" else "HMAC-SHA256, with the key of the audit,"
        same = f"if the {method} of each file begins as in the table"
        see += f" The input is the same {same}; the result holds all of it."
        facts += [(f"{sums.method} of {_ROLES.get(name, name)}", sum_[:16]) for name, sum_ in sums.sums.items()]
    if result.timing:
        facts += [("Date", result.timing.created), ("Time it took", f"{two_digits(result.timing.seconds)} seconds")]
    facts += list(result.versions.items())
    spec = Section("spec.json", code=json.dumps(result.again, indent=2), folded=True)
    table = Section("", table=Table(("what", "value"), tuple(facts)))
    return Section("Run it again", see=see, code=code, parts=(spec, table))
