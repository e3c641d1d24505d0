"""Foreign text is shown as it stands; masked lines hold no value of the data."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reidrisk.base.foreign import mask_wanted, masked, printable, reason


@given(st.text())
def test_nothing_that_acts_on_a_terminal_is_left(text):
    shown = printable(text)
    assert not any(unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp") for c in shown)
    assert not set("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff") & set(shown)
    assert printable(shown) == shown
    shown.encode()  # half characters of names that are not UTF-8 would fail here


@given(st.text(st.characters(categories=("L", "N", "P", "S", "Zs"))))
def test_visible_text_is_left_alone(text):
    assert printable(text) == text


def test_every_control_character_has_its_escape():
    assert printable("".join(map(chr, [0, 7, 10, 13, 27, 127, 0x85, 0x9B]))) == r"\x00\x07\n\r\x1b\x7f\x85\x9b"
    assert printable("\u202e\u2028\udcff") == r"\u202e\u2028\udcff"
    assert printable("\U0001f469\u200d\U0001f52c") == "\U0001f469\u200d\U0001f52c"  # one emoji, joined


@given(st.text(min_size=1), st.integers(1000), st.integers(1, 999))
def test_a_masked_line_is_the_same_whoever_it_is_about(text, number, row):
    def line(label, user):
        return masked(f"a.csv: row {row}, column {label!r} holds {label!r} of user {user}; drop it", ["a.csv"])

    assert line(text, number) == f"a.csv: row {row}, column '…' holds '…' of user …; drop it".replace(
        "'…'", f"{repr(text)[0]}…{repr(text)[0]}"
    )


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("b.csv: rows 3 and 17 are both user 4711; give", "b.csv: rows 3 and 17 are both user …; give"),
        ("row 2, epoch 3 holds token 88; tokens", "row 2, epoch 3 holds token …; tokens"),
        ("line 4 has -1.5e3 in 'speed'", "line 4 has … in '…'"),
        ("x holds `ann 5`; it is Chrome's, people's", "x holds `…`; it is Chrome's, people's"),
        ("record 3.25 of user ann-17", "record … of user …"),
        ("out/week-1.csv: 'out/week-1.csv' 12", "out/week-1.csv: 'out/week-1.csv' …"),
    ],
)
def test_places_stay_and_values_go(line, shown):
    assert masked(line, ["out/week-1.csv", "12x"]) == shown


@pytest.mark.parametrize(("value", "wanted"), [("1", True), ("yes", True), ("0", False), ("", False), ("False", False)])
def test_the_variable_asks_for_it(monkeypatch, value, wanted):
    monkeypatch.setenv("REIDRISK_MASK_IDS", value)
    assert mask_wanted() is wanted
    said = reason(ValueError("row ann,news"))
    assert said == ("ValueError" if wanted else "row ann,news")
