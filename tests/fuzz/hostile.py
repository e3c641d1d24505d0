"""Values that readers meet in damaged and hostile files: numbers, words and times."""

from __future__ import annotations

import random

__all__ = ["NUMBERS", "TEXTS", "hostile_text"]

NUMBERS = (
    "0", "-0", "-1", "1", "2", "0.5", "-0.0", "1e-320", "1e999", "-1e999", "nan", "NaN", "inf", "-Infinity", "1e308",
    "127", "128", "32768", "65536", "2147483647", "2147483648", "-2147483649", "4294967296", "9007199254740993",
    "9223372036854775807", "9223372036854775808", "-9223372036854775809", "18446744073709551616", "1" + "0" * 30,
    "1_000", "1,5", "0x10", "1e5", "00012", " 7 ", "+3", "١٢٣", "²", "1" + "0" * 400,
)  # fmt: skip

TEXTS = (
    "", " ", "null", "None", "true", "-", "--help", "\x1b[31mred\x1b[0m", "\x1b]8;;http://x\x07link", "[link=http://x]y",
    "[/x]", "[red]", "[bold]b[/bold]", "\x07", "\x00", "a\x00b", "a\nb", "a\rb", "a\tb", "a,b", 'a"b', "'", "\u202eabc",
    "\u200b", "\ufeffx", "\u2028", "\x85", "e\u0301", "é" * 40, "\U0001f600", "\ue000", "\uffff", "=1+1",
    "../../x", "/dev/zero",
    "%s%n", "{0}", "{}", "user", "epoch_0", "epoch_1", "token", "epoch", "host", "tokens", "x" * 300, "x" * 70_000,
    "2024-02-30", "2024-13-01", "01/02/2024", "31.12.2023", "1 jan 2024", "0000-00-00", "9999-12-31 23:59:59.999999999",
    "1969-12-31T23:59:59Z", "2024-05-01 12:00:00+14:00", "99999999999-01-01", "24:00", "xn--a", "a..b", ".com",
    "a.b" * 90,
    "1" * 5000,
)  # fmt: skip


def hostile_text(rng: random.Random) -> str:
    """Return a number, a word or a time."""
    return rng.choice(NUMBERS if rng.random() < 0.5 else TEXTS)
