"""What an audit's numbers rest on, in plain sentences, each with what happens where it does not hold."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from reidrisk.attacks.registry import entry, left_out
from reidrisk.audit.result import Assumption
from reidrisk.audit.spec import AuditSpec
from reidrisk.audit.truth_doubt import TruthDoubt
from reidrisk.base.results import Bound, Risk
from reidrisk.base.wording import percent
from reidrisk.records import Traces

__all__ = ["assumptions", "beyond_the_spec", "doubted", "exceeded", "exceeds"]

_UNNAMED = "Neither table names its users"


def assumptions(
    spec: AuditSpec,
    targets: Traces,
    queries: Traces,
    truth: str | None,
    n_scored: int,
    n_strangers: int,
    risks: Sequence[Risk],
    notes: tuple[str | Assumption, ...],
) -> tuple[Assumption, ...]:
    """List the assumptions of an audit.

    Parameters
    ----------
    spec : AuditSpec
        What was asked for.
    targets, queries : Traces
        The two tables.
    truth : str or None
        How the truth is known, in one sentence; ``None`` where it is not.
    n_scored, n_strangers : int
        Queries that were scored, and those drawn beside them whose person is not among the targets.
    risks : sequence of Risk
        What was measured.
    notes : tuple of str or Assumption
        What the reader of the tables had to assume.
    """
    found = [_truth(truth)]
    found.append(
        Assumption(
            "The attacker has these two tables and nothing else (a closed world).",
            "With any further source (addresses, fingerprints, sign-ins) more people can be linked than stated here.",
        )
    )
    found += _system(spec, targets)
    ran = [entry(name).attack.__name__ for name in spec.attacks or ()]
    for one in left_out(ran, targets.n_epochs):
        found.append(
            Assumption(
                f"The attacks that ran compare epoch by epoch; {one.name}, which learns what lasts, was not run.",
                "It links more people the more epochs there are: ask for it, with a sample where the tables are large.",
            )
        )
    found.append(_gaps(targets, queries))
    if truth is None:
        pass  # nothing was scored
    elif n_scored + n_strangers < len(queries):
        found.append(
            Assumption(
                f"The rates were measured on {n_scored + n_strangers:,} of {len(queries):,} records, drawn at random; "
                "the attacker saw all of them.",
                "The intervals cover this draw among these people. Scored all together, their rate would be exact; "
                "other people would differ more than the intervals say.",
            )
        )
    else:
        found.append(
            Assumption(
                f"All {n_scored:,} records were scored: rates are exact for these people.",
                _covered(risks),
            )
        )
    if n_strangers:
        found.append(
            Assumption(
                f"Of the records drawn, {n_strangers:,} belong to nobody among the known records; rates are about the "
                f"{n_scored:,} that have a counterpart.",
                "An attacker who cannot tell who has none also makes wrong links for them; no rate here counts these.",
            )
        )
    found.append(
        Assumption(
            "People are independent of each other.",
            "Where they are not (shared devices, households), the true intervals are wider than stated.",
        )
    )
    for note in notes:
        if isinstance(note, str):
            if truth is not None and truth.startswith(_UNNAMED) and note.startswith(_UNNAMED):
                continue  # the reader of the tables says it too
            note = Assumption(note, "If this does not hold, the rates are about something else: check it first.")
        found.append(note)
    return tuple(found)


def doubted(doubt: TruthDoubt | None) -> tuple[Assumption, ...]:
    """Say that the truth may be misaligned, where that is suspected."""
    if doubt is None:
        return ()
    return (
        Assumption(
            f"The truth is in doubt: of {doubt.n_asked:,} records, {doubt.attack} at {doubt.n_epochs} epochs links "
            f"{doubt.n_close:,} more closely than strangers ever come, and most of these links are called wrong.",
            "Rows in another order or ids given anew make every rate too low: check a few pairs by hand, then audit "
            "again.",
        ),
    )


def exceeded(risks: Sequence[Risk], bounds: Sequence[Bound]) -> tuple[Assumption, ...]:
    """Say where an attack links more people than a model of people allows: there the model does not hold."""
    found = []
    for bound in bounds:
        above = [risk for risk in risks if exceeds([risk], bound)]
        if above:
            found.append(
                Assumption(
                    f"At {bound.n_epochs} epochs {above[-1].attack} links more people than '{bound.name}' allows "
                    f"({percent(above[-1].rate)} against {percent(bound.value)}).",
                    "So people are not as that model takes them: interests last, and it has every epoch start anew. "
                    "Do not quote it as a limit here.",
                )
            )
    return tuple(found[-1:])


def beyond_the_spec(own: Sequence[str]) -> tuple[Assumption, ...]:
    """Say which attacks a saved spec does not name, so that it alone does not run the audit again."""
    if not own:
        return ()
    holds = f"{' and '.join(own)} {'was' if len(own) == 1 else 'were'} handed over as an object, beside the saved spec."
    return (Assumption(holds, "To run the audit again, keep that code with the spec: the spec alone leaves it out."),)


def exceeds(risks: Sequence[Risk], bound: Bound) -> bool:
    """Whether an attack links more people, beyond chance, than a bound within a model of people allows.

    Examples
    --------
    >>> model = Bound("partial information", "random user", 0.2, 0.01, "", n_epochs=4, within_model=True)
    >>> risk = Risk(0.3, 0.25, 0.35, 0.7, 0.0, 0.01, n_targets=100, n_queries=100, n_epochs=4)
    >>> exceeds([risk], model)
    True
    """
    return bound.within_model and any(risk.n_epochs == bound.n_epochs and risk.low > bound.high for risk in risks)


def _covered(risks: Sequence[Risk]) -> str:
    """Say what the intervals of everyone allow for, attack by attack where they differ."""
    said = {
        "people": "speak about other people like these in both tables, not about measurement error",
        "queries": "cover other records to identify among the same known ones, not other people among the known, with "
        "whom the rate can move further",
        "none": "promise nothing, since links depend on all records together",
    }
    found = {covers: list(dict.fromkeys(r.attack for r in risks if r.covers == covers)) for covers in said}
    kinds = [covers for covers in said if found[covers]]
    if len(kinds) == 1:
        return f"The intervals {said[kinds[0]]}."
    return " ".join(f"The intervals of {', '.join(found[covers])} {said[covers]}." for covers in kinds)


def _truth(truth: str | None) -> Assumption:
    if truth is None:
        return Assumption(
            "Who is whom is not known, so no rate was measured. How sure an attack is, is said only where its "
            "probabilities held in a rehearsal: halves of the known records, linked to each other.",
            "Two tables can differ more than two halves of one, and then the probabilities are too high; true pairs "
            "would tell.",
        )
    return Assumption(truth, "Wrong pairs make every attack look weaker than it is.")


def _system(spec: AuditSpec, targets: Traces) -> list[Assumption]:
    system = spec.mechanism(targets.n_tokens)
    top_k, noise = system.top_k, system.noise
    vocabulary = Assumption(
        f"The system can show {targets.n_tokens:,} different tokens.",
        "Noise is spread over the whole vocabulary: with a larger one, attacks that know the system gain a little.",
    )
    if spec.system == "topics":
        return [
            Assumption(
                f"The tokens come from the Topics API: one of a person's top {top_k} a week, "
                f"and a random one with probability {percent(noise)}.",
                "With other parameters, attacks that know the system find fewer people than they could.",
            ),
            vocabulary,
        ]
    noise_text = "no noise was declared" if noise == 0.0 else f"a random token with probability {percent(noise)}"
    return [
        Assumption(
            f"The system is not known: {noise_text}, and two observers of one person are taken to see the same "
            f"token once in {top_k} times.",
            "Rates stay true for the attacks that ran, but one who knows the system better may find more people.",
        ),
        vocabulary,
    ]


def _gaps(targets: Traces, queries: Traces) -> Assumption:
    missing = [float(np.mean(~table.observed)) for table in (targets, queries)]
    if not any(missing):
        return Assumption(
            "Everyone was observed by both in "
            + (f"all {targets.n_epochs} epochs." if targets.n_epochs > 1 else "the one epoch there is."),
            "People who come less often leave shorter records and are harder to link.",
        )
    return Assumption(
        f"{percent(missing[0])} of the known records' tokens and {percent(missing[1])} of the others' are missing, "
        "and are missing for reasons that have nothing to do with who a person is.",
        "If gaps themselves are telling (the same weeks away on both sides), more people can be linked than stated.",
    )
