"""Sentences about bounds for people who are no statisticians."""

from __future__ import annotations

import math

from reidrisk.base.wording import about_in_words, in_words, range_in_words, two_digits

__all__ = ["at_most", "estimated", "exactly"]

_WHAT = {
    "random user": "the right person for {} representations",
    "matching": "the right person for {} representations when all are seen together",
}


def at_most(
    value: float, setting: str, baseline: float, because: str, interval: tuple[float, float] | None = None
) -> str:
    """Say what no attacker can beat, or that nothing is excluded; with the interval of a bound that was estimated.

    Examples
    --------
    >>> at_most(0.02, "random user", 0.001, "the channel is 50-anonymous")
    'Because the channel is 50-anonymous, no attacker names the right person for more than 2 in 100
    representations; blind guessing reaches 1 in 1,000.'
    >>> at_most(0.9975, "random user", 0.5, "two people are alike")
    'Because two people are alike, no attacker names the right person for more than 99.75 in 100
    representations; blind guessing reaches 50 in 100.'
    >>> at_most(1.0, "random user", 0.001, "")
    'This says nothing here: it excludes no rate of success.'
    """
    if not value < 1.0:
        much = "" if value == 1.0 else f" (the formula gives {_number(value)}, and no rate exceeds 1)"
        return f"This says nothing here: it excludes no rate of success{much}."
    words = in_words(value)
    if words.startswith("more than"):  # so near to everyone that more digits are needed
        words = f"{100 * value:.6g} in 100"
    rate = words if interval is None else f"about {words} ({range_in_words(value, *interval)})"
    most = _WHAT[setting].format(f"more than {rate}")
    return f"Because {because}, no attacker names {most}; {_guessing(baseline)}."


def exactly(value: float, setting: str, baseline: float, who: str) -> str:
    """Say what the best attacker reaches.

    Examples
    --------
    >>> exactly(0.75, "random user", 0.5, "who knows every user's probabilities")
    "The best attacker who knows every user's probabilities names the right person for 75 in 100
    representations; blind guessing reaches 50 in 100."
    """
    return f"The best attacker {who} names {_WHAT[setting].format(in_words(value))}; {_guessing(baseline)}."


def estimated(value: float, low: float, high: float, setting: str, baseline: float, who: str) -> str:
    """Say what the best attacker reaches, with the interval of the estimate.

    Examples
    --------
    >>> estimated(0.03, 0.027, 0.034, "random user", 0.001, "who saw one site")
    'The best attacker who saw one site names the right person for about 3 in 100 representations
    (2.7 to 3.4 in 100); blind guessing reaches 1 in 1,000.'
    """
    rate = about_in_words(value)
    interval = range_in_words(value, low, high)
    return f"The best attacker {who} names {_WHAT[setting].format(rate)} ({interval}); {_guessing(baseline)}."


def _guessing(baseline: float) -> str:
    return f"blind guessing reaches {in_words(baseline)}"


def _number(value: float) -> str:
    if math.isinf(value):
        return "infinity"
    return two_digits(value) if value < 1e6 else f"{value:.1e}"
