"""What is said of exports."""

from examples import understood

from reidrisk.base.notes import Note
from reidrisk.io import Converted
from reidrisk.present import words
from reidrisk.present.terms import Terms


def test_the_one_line_says_which_column_is_what():
    columns = {"user": "Kunde", "time": "Datum", "items": ["Kategorie"], "amount": "Menge", "unused": ["Preis"]}
    dialect = {"times": "day-first", "proof": "13.11.2024", "delimiter": ";", "encoding": "cp1252"}
    note = understood("shop.csv", **columns, **dialect)
    assert words.sentence(note) == (
        "shop.csv (Windows-1252, cells between semicolons) is read as one row per event: people by 'Kunde'; time "
        "'Datum' (day first, as '13.11.2024' shows); item 'Kategorie'; amount 'Menge'; not used: 'Preis'."
    )


def test_what_was_read_and_left_out_is_counted():
    note = Note(
        "export-read",
        name="shop.csv",
        rows=1_000,
        events=900,
        users=55,
        items=7,
        dropped={"user": 90, "returned": 10},
        people=[[1, 5], [2, 20], [100, 30]],
    )
    assert words.sentence(note, Terms(person="customer")) == (
        "shop.csv: 1,000 rows read, 900 events of 55 customers over 7 items kept. Left out: 90 without a customer and "
        "10 with an amount below 0 (returned). Customers by number of events: 5 with 1, 20 with 2 to 4 and 30 with "
        "100 or more."
    )


def test_labels_alike_and_bad_rows_are_named():
    alike = words.sentence(Note("labels-alike", labels=4, merged=2, shown=[["Tea", "tea"]]))
    assert "4 labels differ only in case or blanks" in alike
    assert "'Tea' and 'tea'" in alike
    bad = words.sentence(Note("bad-rows", name="a.csv", n=3, of=100, first=["row 4, column 'date'"]))
    assert "3 of 100 rows" in bad
    assert "row 4, column 'date'" in bad
    assert "500 m" in words.sentence(Note("places-on-grid", metres=500.0))


def test_what_was_converted_is_said_in_one_line():
    notes = Note("topics-from-data", n=6), Note("topics-listed-twice", n=2)
    done = Converted((("TopSets(…)", "o.csv"), ("Traces(…)", "o.client_1.csv")), notes)
    assert str(done) == done.reading
    assert done.reading == (
        "Wrote TopSets(…) to o.csv; Traces(…) to o.client_1.csv. The vocabulary was taken from the topic ids that "
        "occur (6); give that of the whole taxonomy if the system has more. Topics that one period lists twice count "
        "once (2 of them)."
    )
