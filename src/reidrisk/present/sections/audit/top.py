"""The top of an audit's page: what was audited, how good the news is, three numbers, and the gate's answer."""

from pathlib import PurePath

from reidrisk.audit import AuditResult
from reidrisk.present.model import Badge, Mood, Tile
from reidrisk.present.terms import Terms, plural
from reidrisk.present.words import in_words, interval, joined, people, sentence
from reidrisk.present.words.audit import not_run
from reidrisk.present.words.gate import in_frequencies, periods_used
from reidrisk.present.words.risk import linked_by
from reidrisk.present.words.verdict import like_guessing

_FEW = 0.01  # a rate whose whole interval lies below this is called low: fewer than 1 in 100


def subject(result: AuditResult, terms: Terms) -> str:
    """Say in one line what was audited."""
    inputs = result.spec.get("inputs", {})
    if inputs.get("kind") == "tables":
        return f"{inputs.get('queries')} linked to {inputs.get('targets')}"
    files = inputs.get("files") or [note["name"] for note in result.notes if note.code == "understood-as"]
    if files:
        names = list(dict.fromkeys(PurePath(name).name for name in files))
        return joined(names) if len(names) > 1 else f"What {names[0]} gives away"
    over = terms.many("period", result.n_epochs)
    if result.simulated:
        return f"{result.n_targets:,} simulated {terms.people}, seen by two sites over {over}"
    linked = f"{result.n_queries:,} {terms.records} linked to {result.n_targets:,}"
    return f"{linked} over {over}" if terms.axis == "epochs" else linked


def facts(result: AuditResult, terms: Terms) -> tuple[str, ...]:
    """Return the sizes of what was read."""
    possible = "possible" if terms.axis == "epochs" else "different"
    return (
        f"{result.n_targets:,} known {terms.records}",
        f"{result.n_queries:,} {terms.records} to identify",
        f"{result.n_scored:,} scored",
        *([terms.many("period", result.n_epochs)] if terms.axis in ("epochs", "columns") else []),
        f"{result.n_tokens:,} {'dimensions' if terms.axis == 'dimensions' else f'{possible} {terms.things}'}",
    )


def first(result: AuditResult, terms: Terms) -> tuple[str, ...]:
    """Say before anything else which attacks did not run, and in which question where they ran in another."""
    questions = result.questions
    places: dict[tuple[str, str], list[str]] = {}
    for number, answer in enumerate(questions, 1):
        for note in answer.notes:
            if note.code == "attack-not-run":
                places.setdefault((note["why"], note["attack"]), []).append(str(number))
    together: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for (why, attack), where in places.items():
        together.setdefault((why, tuple(where)), []).append(attack)

    def said(why: str, where: tuple[str, ...], attacks: list[str]) -> str:
        one = f"In {plural('question', len(where))} {joined(where)}, " if len(where) < len(questions) else ""
        return one + not_run(attacks, why, terms)

    return tuple(said(*key, attacks) for key, attacks in together.items())


def news(result: AuditResult, terms: Terms) -> str:
    """Say how good the news is and what it was measured on."""
    risk = result.strongest
    if risk is None:
        return "Without known pairs there is no rate; below is what can be said without them."
    strangers = result.n_strangers or 0
    drawn, total = result.n_scored + strangers, terms.many("record", result.n_queries)
    on = (
        ("all " if drawn > 1 else "") + total if drawn >= result.n_queries else f"{drawn:,} of {total}, drawn at random"
    )
    if strangers:
        on += f" ({result.n_scored:,} of them have a counterpart; the rates are about these)"
    over = f"{'over' if terms.axis == 'epochs' else 'from'} {periods_used(risk, terms)}"
    of = f" of {result.n_epochs:,}" if risk.n_epochs < result.n_epochs and not terms.whole else ""
    measured = f"Measured on {on}, with {linked_by(risk, terms)}, the strongest attack tried, {over}{of}."
    if result.truth_doubt is not None:
        return f"The truth is in doubt, so these rates may be far too low. {measured}"
    if result.truth_check == "suspicion":
        return f"The truth may be wrong, and these rates too low. {measured}"
    kind = mood(result)
    if kind == "calm" and risk.low <= risk.baseline:
        return f"Good news: these attacks do no better here than guessing. {measured}"
    if kind == "calm":
        few = f"even at the upper end of the interval, fewer than 1 in 100 {terms.people} are linked"
        return f"Good news: {few}. {measured}"
    if kind == "unsure":
        few = f"There are too few {terms.records} to tell this attack from blind guessing"
        return f"{few}; that is no proof of safety. {measured}"
    return measured


_WARNINGS = (
    "cells-carried-by",
    "changes-without-cells",
    "pairs-share-nothing",
    "pairs-share-less",
    "presence-identifies",
    "order-tells",
    "no-direction",
)


def warned(result: AuditResult, terms: Terms) -> tuple[str, ...]:
    """Say what is odd about the records, which whoever reads a rate must know."""
    notes = (note for answer in result.questions for note in answer.notes if note.code in _WARNINGS)
    return tuple(dict.fromkeys(sentence(note, terms) for note in notes))


def mood(result: AuditResult) -> Mood:
    """Say how good the news is, from the whole interval and not from the rate alone.

    ``calm`` where the risk is low or at the level of blind guessing, ``unsure`` where the measurement is too small to
    tell the attack from guessing or the truth may be wrong, ``plain`` otherwise.
    """
    risk = result.strongest
    if risk is None or result.truth_check in ("doubt", "suspicion"):
        return "unsure"
    if risk.high <= _FEW or like_guessing(risk):
        return "calm"
    return "unsure" if risk.low <= risk.baseline else "plain"


def tiles(result: AuditResult, terms: Terms) -> tuple[Tile, ...]:
    """Return the strongest row's right, wrong and missing links; or, without truth, how sure the attack is, checked."""
    risk = result.strongest
    if risk is None:
        return tuple(
            Tile(f"At least {100 * point.threshold:g} in 100 sure", in_words(point.answered), f"of {terms.records}")
            for point in result.choosiness
            if point.threshold in (0.5, 0.9, 0.99)
        )
    about = interval(risk.rate, risk.low, risk.high) or "exact"
    where = f"{linked_by(risk, terms)}, {periods_used(risk, terms)}"
    wrong = "all the others" if risk.incorrect >= 0.995 else interval(risk.incorrect, 1.0 - risk.high, 1.0 - risk.low)
    if risk.abstained:  # where not every record gets an answer, the interval of the right links fixes no other
        wrong = ""
    return (
        Tile("Correct links", in_words(risk.rate), f"{about}; {where}", "correct"),
        Tile("Wrong links", in_words(risk.incorrect), wrong, "wrong"),
        Tile("No answer", in_words(risk.abstained), "" if risk.abstained else "the attack always answers"),
    )


def badge(result: AuditResult, terms: Terms) -> Badge | None:
    """Return how the gate answers, in natural frequencies, where a limit was given."""
    if result.gate is not None:
        return Badge(result.gate.answer, in_frequencies(result.gate, terms))
    limit = result.spec.get("max_risk")
    if limit is None or result.risks:
        return None
    unchecked = "Without known pairs no rate was measured, so it cannot be checked."
    return Badge("undecided", f"The limit given is {people(limit, terms.people)}. {unchecked}")
