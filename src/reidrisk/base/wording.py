"""Numbers in words, where modules still look for them; their home is :mod:`reidrisk.present.words.frequencies`."""

from reidrisk.present.words.frequencies import (
    about_in_words,
    counted,
    in_words,
    people_in_words,
    percent,
    range_in_words,
    two_digits,
)

__all__ = ["about_in_words", "counted", "in_words", "people_in_words", "percent", "range_in_words", "two_digits"]
