"""Numbers in words people understand: natural frequencies with two significant digits, ranges, lists of names."""

import math
import re
from collections.abc import Callable, Sequence

__all__ = ["about_in_words", "in_words", "interval", "people", "percent", "range_in_words", "rate_cells", "two_digits"]
__all__ += [
    "a",
    "about",
    "almost_all",
    "as_given",
    "attack_label",
    "capital",
    "clause",
    "joined",
    "ranged",
    "shortened",
]
__all__ += ["with_interval"]

_ALMOST_ALL = 0.995  # would be rounded to 100
_NEXT_TO_NONE = 1e-15
_LABELS = {"TfIdf": "TF-IDF", "FellegiSunter": "Fellegi-Sunter", "OneToOne": "One to one"}


def two_digits(value: float) -> str:
    """Round to two significant digits, without an exponent.

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

    >>> percent(0.0314), percent(0.00005), percent(0.9965), percent(1.0)
    ('3.1 %', '0.005 %', 'more than 99 %', '100 %')
    """
    return "more than 99 %" if almost_all(rate) else f"{two_digits(100 * rate)} %"


def as_given(share: float) -> str:
    """Write a share that somebody gave, such as a limit or a level, as it was given.

    >>> as_given(0.995), as_given(0.05), as_given(1 / 3)
    ('99.5 %', '5 %', '33.3333 %')
    """
    return f"{100 * share:g} %"


def in_words(rate: float) -> str:
    """Write a rate as a natural frequency, per 100, 1,000 or 100,000; almost everyone is not everyone.

    >>> in_words(0.031), in_words(1 / 168), in_words(0.00052), in_words(0.0), in_words(0.9996)
    ('3.1 in 100', '6 in 1,000', '52 in 100,000', 'none', 'more than 99 in 100')
    """
    if rate <= 0.0:
        return "none"
    if rate < _NEXT_TO_NONE:
        return "fewer than 1 in 1,000,000,000,000,000"
    if almost_all(rate):
        return "more than 99 in 100"
    out_of = _out_of(rate)
    return f"{two_digits(rate * out_of)} in {out_of:,}"


def about_in_words(rate: float) -> str:
    """Write a measured rate; what is only bounded is not 'about'.

    >>> about_in_words(0.031), about_in_words(0.9996)
    ('about 3.1 in 100', 'more than 99 in 100')
    """
    return about(rate) + in_words(rate)


def about(rate: float) -> str:
    """Return 'about ', or nothing before a rate that is written as a bound, or as none."""
    return "" if rate < _NEXT_TO_NONE or almost_all(rate) else "about "


def almost_all(rate: float) -> bool:
    """Whether a rate would be rounded to everyone, and is not."""
    return _ALMOST_ALL <= rate < 1.0


def people(rate: float, who: str = "people") -> str:
    """Write a rate as the people it stands for.

    >>> people(0.031), people(0.031, "customers"), people(0.0)
    ('3.1 in 100 people', '3.1 in 100 customers', 'nobody')
    """
    return f"{in_words(rate)} {who}" if rate > 0.0 else "nobody"


def range_in_words(rate: float, low: float, high: float) -> str:
    """Write an interval over the denominator of its rate.

    >>> range_in_words(0.029, 0.0271, 0.0316)
    '2.7 to 3.2 in 100'
    >>> range_in_words(1 / 300, 0.000084, 0.0184)
    '0.084 to 18 in 1,000'
    >>> range_in_words(0.9993, 0.9974, 0.9999)            # almost everyone is not everyone
    '99.7 to 100 in 100'
    """
    out_of = _out_of(rate if rate > 0.0 else high)
    return f"{_end(low, out_of, math.floor)} to {_end(high, out_of, math.ceil)} in {out_of:,}"


def _end(value: float, out_of: int, rounded: Callable[[float], int]) -> str:
    """Write the end of an interval; of almost everyone with a digit more, rounded outwards."""
    return f"{rounded(10 * value * out_of) / 10:,g}" if almost_all(value) else two_digits(value * out_of)


def interval(rate: float, low: float, high: float) -> str:
    """Write an interval over the denominator of its rate; an empty string where it is a single point."""
    return "" if low >= high else range_in_words(rate, low, high)


def rate_cells(rate: float, low: float, high: float) -> tuple[str, str]:
    """Write a natural frequency and its interval for two columns of a table."""
    return in_words(rate), interval(rate, low, high) or "exact"


def with_interval(rate: float, low: float | None, high: float | None) -> str:
    """Write a natural frequency with its interval, where there is one.

    >>> with_interval(0.029, 0.0271, 0.0316), with_interval(0.5, None, None)
    ('2.9 in 100 (2.7 to 3.2 in 100)', '50 in 100')
    """
    about = interval(rate, low, high) if low is not None and high is not None else ""
    return in_words(rate) + (f" ({about})" if about else "")


def attack_label(name: str) -> str:
    """Write the name of an attack as words.

    >>> attack_label("WeightedHamming"), attack_label("Hamming"), attack_label("TfIdf")
    ('Weighted Hamming', 'Hamming', 'TF-IDF')
    """
    return _LABELS.get(name) or re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)


def joined(parts: Sequence[str]) -> str:
    """Join words as in a sentence.

    >>> joined(["a"]), joined(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return parts[0] if len(parts) == 1 else ", ".join(parts[:-1]) + " and " + parts[-1]


def a(word: str) -> str:
    """Write a noun with its article.

    >>> a("item"), a("customer")
    ('an item', 'a customer')
    """
    return f"{'an' if word[:1].lower() in 'aeiou' else 'a'} {word}"


def ranged(level: str, noun: str = "") -> str:
    """Write a number, or the ends of a range that may be open, with what it counts.

    >>> ranged("1", "visit"), ranged("4-1200", "visit"), ranged("41-", "visit"), ranged("-9")
    ('1 visit', '4 to 1,200 visits', '41 visits or more', 'at most 9')
    """
    from reidrisk.present.terms import plural

    low, dash, high = level.partition("-")
    if not all(part.isdigit() for part in (low, high) if part) or not (low or high):
        return level
    many = f" {plural(noun, 1 if level == '1' else 2)}" if noun else ""
    ends = [f"{int(part):,}" for part in (low, high) if part]
    if low and high:
        return f"{ends[0]} to {ends[1]}{many}"
    return f"{ends[0]}{many} or more" if low and dash else f"at most {ends[0]}{many}" if dash else f"{ends[0]}{many}"


def shortened(text: str, most: int = 60) -> str:
    """Write a name from the data in quotation marks, the end left out where it is long.

    >>> shortened("Coffee Shop"), shortened("x" * 100, most=4)
    ('“Coffee Shop”', '“xxx…”')
    """
    return f"“{text if len(text) <= most else text[: most - 1] + '…'}”"


def capital(text: str) -> str:
    """Begin a text with a capital letter."""
    return text[:1].upper() + text[1:]


def clause(sentence: str) -> str:
    """Write a sentence as part of another one: without its capital and its full stop."""
    return (sentence[:1].lower() + sentence[1:]).rstrip(".")


def _out_of(rate: float) -> int:
    if rate <= 0.0:
        return 100
    # The small slack keeps 1/1,000 at '1 in 1,000' although its logarithm is not exact.
    zeros = math.ceil(-math.log10(rate) - 1e-9)
    return int(10 ** (5 if zeros == 4 else max(2, zeros)))
