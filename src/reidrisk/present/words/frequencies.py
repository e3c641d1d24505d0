"""Numbers in words people understand: natural frequencies with two significant digits, ranges, lists of names."""

from __future__ import annotations

import math
import re

_ALMOST_ALL = 0.995  # would be rounded to 100


def two_digits(value: float) -> str:
    """Round to two significant digits, without an exponent.

    Examples
    --------
    >>> two_digits(3.14159), two_digits(0.0123), two_digits(1234), two_digits(100.0), two_digits(0)
    ('3.1', '0.012', '1,200', '100', '0')
    """
    if value == 0 or not math.isfinite(value):
        return "0" if value == 0 else str(value)
    digits = 1 - math.floor(math.log10(abs(value)))
    rounded = round(value, digits)
    text = f"{rounded:,.{max(digits, 0)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def percent(rate: float) -> str:
    """Write a rate as a percentage; almost everyone is not everyone.

    Examples
    --------
    >>> percent(0.0314), percent(0.00005), percent(0.9965), percent(1.0)
    ('3.1 %', '0.005 %', 'more than 99 %', '100 %')
    """
    return "more than 99 %" if _ALMOST_ALL <= rate < 1.0 else f"{two_digits(100 * rate)} %"


def in_words(rate: float) -> str:
    """Write a rate as a natural frequency; one in n stays one in n, and almost everyone is not everyone.

    Examples
    --------
    >>> in_words(0.031), in_words(0.000052), in_words(1 / 3_000), in_words(0.0), in_words(0.9996)
    ('3.1 in 100', '5.2 in 100,000', '1 in 3,000', 'none', 'more than 99 in 100')
    """
    if rate <= 0.0:
        return "none"
    if rate < 1e-15:
        return "fewer than 1 in 1,000,000,000,000,000"
    if _ALMOST_ALL <= rate < 1.0:
        return "more than 99 in 100"
    if _is_one_in(rate):
        return f"1 in {round(1.0 / rate):,}"
    out_of = _out_of(rate)
    return f"{two_digits(rate * out_of)} in {out_of:,}"


def counted(number: int, least: int = 1) -> str:
    """Write a number of people, or that there are fewer than may be told.

    Examples
    --------
    >>> counted(1234), counted(7, least=20), counted(0, least=20)
    ('1,234', 'fewer than 20', '0')
    """
    return f"fewer than {least:,}" if 0 < number < least else f"{number:,}"


def people_in_words(rate: float) -> str:
    """Write a rate as the people it stands for.

    Examples
    --------
    >>> people_in_words(0.031), people_in_words(0.0)
    ('3.1 in 100 people', 'nobody')
    """
    return f"{in_words(rate)} people" if rate > 0.0 else "nobody"


def about_in_words(rate: float) -> str:
    """Write a measured rate; what is only bounded is not 'about'.

    Examples
    --------
    >>> about_in_words(0.031), about_in_words(0.9996)
    ('about 3.1 in 100', 'more than 99 in 100')
    """
    words = in_words(rate)
    return words if words.startswith(("more than", "fewer than", "none")) else f"about {words}"


def range_in_words(rate: float, low: float, high: float) -> str:
    """Write an interval over the denominator of its rate.

    Examples
    --------
    >>> range_in_words(0.029, 0.0271, 0.0316)
    '2.7 to 3.2 in 100'
    >>> range_in_words(1 / 300, 0.000084, 0.0184)         # '1 in 300' has its own
    '0.025 to 5.5 in 300'
    """
    out_of = round(1.0 / rate) if _is_one_in(rate) else _out_of(rate if rate > 0.0 else high)
    return f"{two_digits(low * out_of)} to {two_digits(high * out_of)} in {out_of:,}"


def people(rate: float) -> str:
    """Write a natural frequency of people, for use in a sentence.

    Examples
    --------
    >>> people(0.031), people(0.0)
    ('3.1 in 100 people', 'no one')
    """
    return "no one" if rate <= 0.0 else f"{in_words(rate)} people"


def rate_of_records(rate: float, low: float | None = None, high: float | None = None) -> str:
    """Write a natural frequency of records with its interval, where there is one, for use in a sentence.

    Examples
    --------
    >>> rate_of_records(0.031, 0.02, 0.045), rate_of_records(0.0, 0.0, 0.014), rate_of_records(0.0)
    ('3.1 in 100 records (2 to 4.5 in 100)', 'no record (0 to 1.4 in 100)', 'no record')
    """
    about = interval(max(rate, 0.0), low, high) if low is not None and high is not None else ""
    return ("no record" if rate <= 0.0 else f"{in_words(rate)} records") + (f" ({about})" if about else "")


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
        return "not shown" if high >= 1.0 else f"fewer than {in_words(high)}"
    return f"more than {in_words(low)}" if high >= 1.0 else range_in_words(high, low, high)


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


def with_interval(rate: float, low: float | None, high: float | None) -> str:
    """Write a natural frequency with its interval, where there is one.

    Examples
    --------
    >>> with_interval(0.029, 0.0271, 0.0316), with_interval(0.5, None, None)
    ('2.9 in 100 (2.7 to 3.2 in 100)', '50 in 100')
    """
    about = interval(rate, low, high) if low is not None and high is not None else ""
    return in_words(rate) + (f" ({about})" if about else "")


def capital(text: str) -> str:
    """Begin a text with a capital letter."""
    return text[:1].upper() + text[1:]


def clause(sentence: str) -> str:
    """Write a sentence as part of another one.

    Examples
    --------
    >>> clause("People are independent of each other.")
    'people are independent of each other'
    """
    return (sentence[:1].lower() + sentence[1:]).rstrip(".")


def _is_one_in(rate: float) -> bool:
    return 1e-15 <= rate < 0.01 and abs(1.0 / rate - round(1.0 / rate)) < 1e-6


def _out_of(rate: float) -> int:
    if rate <= 0.0:
        return 100
    # The small slack keeps 1/1,000 at '1 in 1,000' although its logarithm is not exact.
    return max(100, int(10 ** math.ceil(-math.log10(rate) - 1e-9)))
