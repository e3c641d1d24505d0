"""Sentences about bits: how much a record tells, and how much two observers' records share."""

from typing import Any

from reidrisk.present.terms import Terms
from reidrisk.present.words.register import reads


def _bits(found: Any) -> str:
    if found.low == found.high:
        return f"{found.value:.2f} bits"
    return f"{found.value:.2f} bits ({found.low:.2f} to {found.high:.2f})"


@reads("Information")
def _information(found: Any, terms: Terms) -> str:
    each = f" per {terms.period}" if found.n_epochs > 1 else ""
    how = {"sequence": "an estimate, no bound", "exact": "exact"}.get(found.method, "estimated from counts")
    return (
        f"A {terms.record} holds {_bits(found.entropy)}{each}; whoever has the other {terms.record} of the same "
        f"{terms.person} knows {_bits(found.mutual)} of them beforehand ({how})."
    )


@reads("Independence")
def _independence(found: Any, terms: Terms) -> str:
    return (
        f"Whole {terms.records} share {_bits(found.together.mutual)} per {terms.period}, single {terms.periods} "
        f"{_bits(found.apart.mutual)}: what the {terms.periods} tell together is {_bits(found.gap)} more."
    )
