"""Pieces of wording, where pages still look for them; their home is :mod:`reidrisk.present.words.frequencies`."""

from reidrisk.present.words.frequencies import (
    among,
    attack_label,
    in_words,
    interval,
    joined,
    limits,
    people,
    percent,
    rate_of_records,
    span,
)

__all__ = [
    "among",
    "attack_label",
    "epochs",
    "frequency",
    "interval",
    "joined",
    "limits",
    "people",
    "rate_of_records",
    "share",
    "span",
]

frequency = in_words
share = percent


def epochs(count: int) -> str:
    """Write a number of epochs."""
    return "1 epoch" if count == 1 else f"{count:,} epochs"
