"""Small pieces of wording the report's sentences, tables and labels share."""

from __future__ import annotations

import re

from reidrisk.base.wording import in_words, percent, range_in_words, two_digits

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


def frequency(rate: float) -> str:
    """Write a rate as a natural frequency; almost everyone is not everyone.

    Examples
    --------
    >>> frequency(0.031), frequency(0.9996), frequency(1.0), frequency(0.0)
    ('3.1 in 100', 'more than 99 in 100', '100 in 100', 'none')
    """
    return in_words(rate)


def people(rate: float) -> str:
    """Write a natural frequency of people, for use in a sentence.

    Examples
    --------
    >>> people(0.031), people(0.0)
    ('3.1 in 100 people', 'no one')
    """
    return "no one" if rate <= 0.0 else f"{frequency(rate)} people"


def rate_of_records(rate: float, low: float | None = None, high: float | None = None) -> str:
    """Write a natural frequency of records with its interval, where there is one, for use in a sentence.

    Examples
    --------
    >>> rate_of_records(0.031, 0.02, 0.045), rate_of_records(0.0, 0.0, 0.014), rate_of_records(0.0)
    ('3.1 in 100 records (2 to 4.5 in 100)', 'no record (0 to 1.4 in 100)', 'no record')
    """
    about = interval(max(rate, 0.0), low, high) if low is not None and high is not None else ""
    return ("no record" if rate <= 0.0 else f"{frequency(rate)} records") + (f" ({about})" if about else "")


def interval(rate: float, low: float, high: float) -> str:
    """Write an interval over the denominator of its rate; an empty string where it is a single point.

    Examples
    --------
    >>> interval(0.029, 0.0271, 0.0316), interval(0.0, 0.0, 0.00018), interval(1.0, 1.0, 1.0)
    ('2.7 to 3.2 in 100', '0 to 1.8 in 10,000', '')
    """
    return "" if low >= high else range_in_words(rate, low, high)


def limits(low: float | None, high: float | None) -> str:
    """Write between which limits a rate lies that is not shown because it is about a few people.

    Examples
    --------
    >>> limits(0.867, 1.0), limits(0.0, 0.067), limits(0.027, 0.093), limits(0.0, 1.0)
    ('more than 87 in 100', 'fewer than 6.7 in 100', '2.7 to 9.3 in 100', 'not shown')
    """
    low, high = low or 0.0, 1.0 if high is None else high
    if low <= 0.0:
        return "not shown" if high >= 1.0 else f"fewer than {frequency(high)}"
    return f"more than {frequency(low)}" if high >= 1.0 else range_in_words(high, low, high)


def share(rate: float) -> str:
    """Write a percentage; almost everyone is not everyone.

    Examples
    --------
    >>> share(0.031), share(0.9996), share(0.0)
    ('3.1 %', 'more than 99 %', '0 %')
    """
    return percent(rate)


def span(low: float, high: float) -> str:
    """Write a range of percentages.

    Examples
    --------
    >>> span(0.027, 0.0316)
    '2.7 to 3.2 %'
    """
    return f"{two_digits(100 * low)} to {two_digits(100 * high)} %"


def attack_label(name: str) -> str:
    """Write the name of an attack as words.

    Examples
    --------
    >>> attack_label("WeightedHamming"), attack_label("Hamming")
    ('Weighted Hamming', 'Hamming')
    """
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)


def epochs(count: int) -> str:
    """Write a number of epochs.

    Examples
    --------
    >>> epochs(1), epochs(8)
    ('1 epoch', '8 epochs')
    """
    return "1 epoch" if count == 1 else f"{count:,} epochs"


def among(scored: int, total: int) -> str:
    """Say how many records were scored.

    Examples
    --------
    >>> among(20_000, 100_000), among(4, 4)
    ('20,000 of 100,000 records, drawn at random', 'all 4 records')
    """
    return f"all {total:,} records" if scored >= total else f"{scored:,} of {total:,} records, drawn at random"


def joined(parts: list[str]) -> str:
    """Join words as in a sentence.

    Examples
    --------
    >>> joined(["a"]), joined(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return parts[0] if len(parts) == 1 else ", ".join(parts[:-1]) + " and " + parts[-1]
