"""Forms of periods: which labels with several numbers have an order, and which numbers are dates with the year last."""

import re
from collections.abc import Sequence
from itertools import pairwise, permutations

_Y = r"(?:19|20|21)[0-9]{2}"
_M, _D, _W = r"(?:0[1-9]|1[0-2])", r"(?:0[1-9]|[12][0-9]|3[01])", r"(?:0[1-9]|[1-4][0-9]|5[0-3])"
_MONTH, _DAY, _WEEK = (rf"(?:{two}|[1-9])(?![0-9])" for two in (_M, _D, _W))
_HOURS, _SIXTY = r"(?:[01]?[0-9]|2[0-3])", r"[0-5][0-9]"
_TIME = rf"{_HOURS}:{_SIXTY}(?::{_SIXTY}(?:[.,][0-9]+)?)?"
_BASIC_TIME = rf"(?:[01][0-9]|2[0-3]){_SIXTY}(?:{_SIXTY})?"
_WEEKS = r"(?:w|wk|cw|kw|week|weeks|calendar week)"
_SEP = r"[-/._ ]"

_FORMS = tuple(
    re.compile(rf"[^0-9]*{form}[^0-9]*")
    for form in (
        rf"{_Y}{_SEP}+{_MONTH}(?:{_SEP}+{_DAY}(?:[t ]+{_TIME})?)?",
        rf"{_Y}{_M}{_D}[t _-]*(?:{_TIME}|{_BASIC_TIME})",
        rf"{_Y}{_SEP}*{_WEEKS}{_SEP}*{_WEEK}(?:{_SEP}*d?[1-7])?",
        rf"(?<![a-z]){_WEEKS}{_SEP}*{_Y}{_SEP}+{_WEEK}",
        rf"{_Y}{_SEP}*(?:q|quarter){_SEP}*0?[1-4]",
        rf"{_Y}{_SEP}*(?:h|half|s|semester){_SEP}*0?[12]",
        rf"{_Y}{_SEP}*(?:m|month){_SEP}*{_MONTH}(?:{_SEP}*(?:d|day)?{_SEP}*{_DAY})?",
        rf"{_Y}{_SEP}*(?:d|day)?{_SEP}*(?:[0-2][0-9]{{2}}|3[0-5][0-9]|36[0-6])",
        rf"{_Y}{_SEP}*(?:sprint|term|cycle|wave|round|period|phase){_SEP}*[0-9]+",
        _TIME,
    )
)
_SEASON = re.compile(rf"[^0-9]*({_Y}){_SEP}([0-9]{{2}})[^0-9]*")

_YEAR_FIRST = re.compile(rf"{_Y}(?:{_M}|{_W}|{_M}{_D}(?:{_BASIC_TIME})?)")
_YEAR_LAST = tuple(
    re.compile(form)
    for form in (
        rf"(?P<d>{_D})(?P<m>{_M})(?P<y>{_Y})(?P<t>{_BASIC_TIME})?",
        rf"(?P<m>{_M})(?P<d>{_D})(?P<y>{_Y})(?P<t>{_BASIC_TIME})?",
        rf"(?P<y>{_Y})(?P<d>{_D})(?P<m>{_M})(?P<t>{_BASIC_TIME})?",
        rf"(?P<m>{_W})(?P<y>{_Y})",
    )
)
_BOTH = permutations((rf"(?P<d>{_D})", rf"(?P<m>{_M})"))
_SHORT_YEAR_LAST = tuple(re.compile(rf"{one}{two}(?P<y>[0-9]{{2}})") for one, two in _BOTH)
_DIGITS_OF_A_MONTH, _DIGITS_OF_A_TIME = 6, 14


def understood(labels: Sequence[str]) -> bool:
    """Tell whether labels with several numbers that change have an order: the year first and the rest within bounds."""
    plain = [" ".join(label.split()).lower() for label in labels]
    if any(all(form.fullmatch(label) for label in plain) for form in _FORMS):
        return True
    seasons = [_SEASON.fullmatch(label) for label in plain]
    return all(found and (int(found[1]) + 1) % 100 == int(found[2]) for found in seasons)


def day_and_month(labels: Sequence[str]) -> bool:
    """Tell whether labels read throughout as a day and a month without a year, such as 31/01."""
    dates = rf"\s*(?:{_DAY}/{_MONTH}|{_D}[.-]{_M})\.?\s*", rf"\s*(?:{_MONTH}/{_DAY}|{_M}[.-]{_D})\.?\s*"
    return any(all(re.fullmatch(form, label) for label in labels) for form in dates)


def other_order(numbers: Sequence[str]) -> tuple[str, str] | None:
    """Find two numbers whose order as dates with the year last (31012024, 012024) is not the one of the numbers.

    Numbers may have lost a zero in front. Two-digit years count where the numbers do not read as 202401 or 20240131.
    """
    if max(map(len, numbers)) > _DIGITS_OF_A_TIME:
        return None
    numbers = sorted(numbers, key=int)
    padded = [digits.zfill(len(digits) + len(digits) % 2) for digits in numbers]
    first = all(_YEAR_FIRST.fullmatch(digits) for digits in padded)
    if all(_YEAR_FIRST.fullmatch(digits) and len(digits) > _DIGITS_OF_A_MONTH for digits in padded):
        return None
    for form in _YEAR_LAST if first else _YEAR_LAST + _SHORT_YEAR_LAST:
        found = [form.fullmatch(digits) for digits in padded]
        if not all(found):
            continue
        keys = [[match.groupdict().get(part) or "" for part in "ymdt"] for match in found if match]
        for (one, former), (other, latter) in pairwise(zip(numbers, keys, strict=True)):
            if former > latter:
                return one, other
    return None
