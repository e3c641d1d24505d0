"""The gate's answer as files for others to read: JUnit XML for a pipeline, Markdown for a pull request."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr

from reidrisk.present.words.frequencies import as_given, attack_label, in_words, interval
from reidrisk.present.words.gate import because, periods_used

if TYPE_CHECKING:
    from reidrisk.audit import AuditResult, Gate

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd]")
_BADGES = {"pass": "✅ pass", "fail": "❌ fail", "undecided": "❔ undecided"}
_SHOWN = 8  # rows of the table


def junit(gate: Gate, said: str) -> str:
    """Return the answer as one test case: a fail is a failure, what is undecided is an error."""
    name = f"people found at most {as_given(gate.max_risk)}"
    tag = {"fail": "failure", "undecided": "error"}.get(gate.answer)
    inside = "" if tag is None else f"<{tag} message={quoteattr(_clean(said))} type={quoteattr(gate.why)}/>"
    counts = f'tests="1" failures="{int(gate.answer == "fail")}" errors="{int(gate.answer == "undecided")}"'
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<testsuites {counts}>\n  <testsuite name="reidrisk gate" {counts}>\n'
        f'    <testcase classname="reidrisk.gate" name={quoteattr(name)}>{inside}'
        f"<system-out>{escape(_clean(said))}</system-out></testcase>\n"
        "  </testsuite>\n</testsuites>\n"
    )


def summary(result: AuditResult, gate: Gate, said: str) -> str:
    """Return the answer, why, and the strongest rows of every question as Markdown."""
    from reidrisk.present.words import sentence
    from reidrisk.present.words.audit import terms_of

    terms = terms_of(result)
    lines = [f"### {_BADGES[gate.answer]}: re-identification risk against {as_given(gate.max_risk)}", ""]
    lines += [f"{because(gate, terms)[0].upper()}{because(gate, terms)[1:]}.", ""]
    lines += [f"> {sentence(note, terms)}" for note in result.notes if note.code == "attack-not-run"]
    for answer in result.questions:
        words = terms_of(answer)
        if answer.scenario is not None:
            lines += ["", f"**{_plain(sentence(answer.scenario, words))}**"]
        lines += ["", f"| attack | {words.periods} | people found | interval |", "| --- | --- | --- | --- |"]
        for risk in sorted(answer.risks, key=lambda risk: -risk.rate)[:_SHOWN]:
            ends = interval(risk.rate, risk.low, risk.high) or "exact"
            cells = (attack_label(risk.attack), periods_used(risk, words), in_words(risk.rate), ends)
            lines.append(f"| {' | '.join(map(_plain, cells))} |")
    return "\n".join([*lines, "", _plain(said), ""])


def _clean(text: str) -> str:
    return _NOT_XML.sub("?", text)


def _plain(text: str) -> str:
    """Return text that Markdown shows as it is."""
    return re.sub(r"([\\|*_<>`\[\]])", r"\\\1", text)
