"""The sentences around the charts: what to see, what not to conclude, and what a reader who cannot see them hears."""

from __future__ import annotations

from dataclasses import dataclass

from reidrisk.audit import AuditResult, exceeds
from reidrisk.base.results import Bound
from reidrisk.bounds import tightest_by_epochs
from reidrisk.present.scales import RateScale
from reidrisk.present.words.audit import terms_of
from reidrisk.present.words.gate import in_frequencies
from reidrisk.report.findings import lines, mood
from reidrisk.report.phrases import (
    among,
    attack_label,
    epochs,
    frequency,
    interval,
    joined,
    people,
)

LIMITS = (
    (
        "Attributes",
        "What can be learnt about a person without naming them, such as an illness or a belief, is another risk. "
        "It can be high where this one is low.",
    ),
    ("Membership", "Whether someone is in the data at all was not asked; it can give a person away by itself."),
    (
        "Other data sources",
        "Network addresses, device fingerprints, sign-ins or further tables were not used. "
        "An attacker who has them can link more people.",
    ),
    (
        "Attacks that were not tried",
        "A measured rate is what these attacks reach. A better attack may reach more, up to the bounds where they "
        "exclude something.",
    ),
    ("Single people", "The numbers are about groups. They do not say that a given person is safe, or is not."),
)
"""What the report does not tell: a heading and a sentence each."""


@dataclass(frozen=True)
class Around:
    """The words around one chart."""

    before: str
    after: str
    alt: str


def subject(result: AuditResult) -> str:
    """Say in one line what was audited."""
    inputs = result.spec.get("inputs", {})
    if inputs.get("kind") == "tables":
        return f"{inputs.get('queries')} linked to {inputs.get('targets')}"
    if not result.simulated:
        return f"{result.n_queries:,} records linked to {result.n_targets:,} over {epochs(result.n_epochs)}"
    return f"{result.n_targets:,} simulated people, seen by two sites over {epochs(result.n_epochs)}"


def news(result: AuditResult) -> str:
    """Say how good the news is and what it was measured on."""
    risk = result.strongest
    if risk is None:
        return "Without known pairs there is no rate; below is what can be said without them."
    many = f"{attack_label(risk.attack)}, the strongest attack tried, over {epochs(risk.n_epochs)}"
    if risk.n_epochs < result.n_epochs:
        many += f" of {result.n_epochs:,}"
    if result.left_out:
        many += f"; {attack_label(result.left_out)}, which may link more, was not run"
    strangers = result.n_strangers or 0
    drawn = among(result.n_scored + strangers, result.n_queries)
    if strangers:
        drawn += f" ({result.n_scored:,} of them have a counterpart; the rates are about these)"
    measured = f"Measured on {drawn}, with {many}."
    kind = mood(risk)
    if result.truth_doubt is not None:
        return f"The truth is in doubt, so these rates may be far too low. {measured}"
    if kind == "calm" and risk.low <= risk.baseline:
        return f"Good news: these attacks do no better here than guessing. {measured}"
    if kind == "calm":
        return f"Good news: even at the upper end of the interval, fewer than 1 in 100 people are linked. {measured}"
    if kind == "unsure":
        few = "There are too few records to tell this attack from blind guessing; that is no proof of safety."
        return f"{few} {measured}"
    return measured


def gate_sentence(result: AuditResult) -> str:
    """Say how the gate answers, in natural frequencies; an empty string where no limit was given."""
    gate = result.gate
    if gate is None:
        limit = result.spec.get("max_risk")
        if limit is None or result.risks:
            return ""
        return f"The limit given is {people(limit)}. Without known pairs no rate was measured, so it cannot be checked."
    return in_frequencies(gate, terms_of(result))


def around_growth(result: AuditResult, scale: RateScale) -> Around:
    """Return the words around risk against number of epochs."""
    drawn = lines(result)
    bounds = tightest_by_epochs(result.bounds)
    said, heard = [], []
    for attack, risks in drawn.items():
        name, first, last = attack_label(attack), risks[0], risks[-1]
        if len(risks) > 1:
            way = f"from {people(first.rate)} at {epochs(first.n_epochs)} to {people(last.rate)} at {last.n_epochs}"
            said.append(f"{name} goes {way}")
        else:
            said.append(f"{name} links {people(last.rate)} at {epochs(last.n_epochs)}")
        heard.append(f"{name}: " + ", ".join(f"{frequency(r.rate)} at {epochs(r.n_epochs)}" for r in risks))
    grows = len({risk.n_epochs for risk in result.risks} | set(bounds)) > 1
    band = "; the band around a line is its interval" if grows else ""
    before = f"See how much an attacker gains: {joined(said)}{band}." if said else ""
    after = ["Do not extend the lines beyond what was measured, and do not read them as the most any attacker can do."]
    if not grows:
        after = ["Do not conclude anything about more epochs from this, nor read it as the most any attacker can do."]
    if not said:
        before = "No rate was measured; see instead what the tightest bound allows."
        after = ["Do not read a bound as a rate: it says what cannot be exceeded, not what was reached."]
    if scale.log:
        before += " Each step of the scale is ten times as many people."
    if bounds:
        r, bound = max(bounds.items())
        named = f"tightest bound that says something ({bound.name}, {frequency(bound.value)} at {epochs(r)})"
        risk = result.strongest
        if risk is not None and r == risk.n_epochs:
            close = f"The strongest attack comes close to the {named}."
            far = f"The {named} leaves room above the attacks for better ones."
            after.append(close if risk.high >= bound.value else far)
        values = ", ".join(f"{frequency(b.value)} at {epochs(count)}" for count, b in bounds.items())
        heard.append(f"tightest bound: {values}")
    baseline = result.risks[0].baseline if result.risks else 1.0 / result.n_targets
    heard.append(f"blind guessing: {frequency(baseline)}")
    return Around(before, " ".join(after), f"Share of people linked correctly. {'; '.join(heard)}.")


def paired(result: AuditResult) -> list[str]:
    """Say how the attacks differ at the epochs of the strongest row, on the same records."""
    most = result.strongest.n_epochs if result.strongest else 0
    said = []
    for gap in result.differences:
        if gap.n_epochs != most:
            continue
        one, other = attack_label(gap.attack), attack_label(gap.other)
        if gap.low <= 0.0 <= gap.high:
            said.append(f"On the same records, {one} and {other} cannot be told apart at {epochs(most)}.")
            continue
        (more, less), sign = ((one, other), 1.0) if gap.low > 0.0 else ((other, one), -1.0)
        ends = sorted((sign * gap.low, sign * gap.high))
        about = interval(sign * gap.difference, *ends)
        rate = frequency(sign * gap.difference)
        said.append(
            f"On the same records, {more} links {rate} more people than {less} at {epochs(most)} ({about}): "
            "statistically significant."
        )
    return said


def around_perspective(result: AuditResult) -> Around:
    """Return the words around the comparison."""
    risk = result.strongest
    before = "See where this data lies between a third-party cookie, which links everyone, and blind guessing"
    topics = result.spec.get("system") == "topics"
    before += ", and beside published figures for topics." if topics else "."
    after = "Do not compare rates without their population and time: the same data is easier to link among fewer people"
    after += " and over more epochs."
    if topics:
        after += " The published figures come from other people, other sizes and partly other attacks."
    alt = "Share of people linked correctly. Third-party cookie: everyone"
    if risk is not None:
        alt += f"; this data: {people(risk.rate)}"
    baseline = 1.0 / result.n_targets if risk is None else risk.baseline
    return Around(before, after, f"{alt}; blind guessing: {frequency(baseline)}.")


def bounds_summary(result: AuditResult) -> str:
    """Say what the bounds amount to at the most epochs."""
    if not result.bounds:
        return "No bound could be computed for this data: nothing is excluded beyond what was measured."
    risk = result.strongest
    most = risk.n_epochs if risk is not None else max(bound.n_epochs or 0 for bound in result.bounds)
    bound = tightest_by_epochs(result.bounds).get(most)
    modelled = [b for b in result.bounds if b.within_model and b.n_epochs == most]
    if bound is None:
        said = f"At {epochs(most)} no bound excludes anything: better attacks than those tried cannot be ruled out."
        return said + _within_model([b for b in modelled if b.says_something], result)
    said = f"At {epochs(most)} the tightest bound for linking one record at a time is {people(bound.value)}"
    said += f" ({bound.name})."
    if bound.setting == "matching":
        said += " It limits who links all records together, and so also who links them one at a time."
    if bound.assumptions:
        said += f" It holds under its assumptions: {'; '.join(text.rstrip('.') for text in bound.assumptions)}."
    if risk is not None:
        said += f" The strongest attack tried reaches {people(risk.rate)}; what lies between is not known."
    if any(b.value > bound.value for b in result.bounds if b.n_epochs == most and b.setting == bound.setting):
        said += " The other proven bounds are looser."
    return said + _within_model([b for b in modelled if b.value < bound.value], result)


def _within_model(lower: list[Bound], result: AuditResult) -> str:
    """Say what a lower bound within a model of people is worth here."""
    if not lower:
        return ""
    said = f" {lower[0].name.capitalize()} allows {people(lower[0].value)}, but holds only within its model: "
    if exceeds(result.risks, lower[0]):
        return f"{said}an attack exceeded it here, so people are not as that model takes them. It limits nobody."
    return f"{said}an attacker who knows more about people than the model does may exceed it."
