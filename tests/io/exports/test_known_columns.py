"""Which columns an outsider may know: guessed by names and contents, never free text, ids or constants."""

import numpy as np

from reidrisk import io

N = 120


def survey() -> dict[str, object]:
    rng = np.random.default_rng(0)
    words = [" ".join(rng.choice(["work", "pay", "team", "late", "desk", "noise"], 12)) for _ in range(N)]
    return {
        "Age": rng.integers(20, 65, N),
        "sex": rng.choice(["f", "m"], N),
        "PLZ": [f"{z:05d}" for z in rng.integers(10000, 10040, N)],
        "q1": rng.integers(1, 6, N),
        "badge_no": rng.permutation(np.arange(1000, 1000 + 3 * N, 3)),
        "token": [f"{i:x}-{rng.integers(1 << 40):x}" for i in range(N)],
        "remarks": words,
        "StandardHours": [40] * N,
    }


def sorted_columns(reading: io.Reading) -> tuple[list[str], list[str], dict[str, str]]:
    note = next(n for n in io.read_export(survey(), reading).notes if n.code == "columns-known-outside")
    return note["known"], note["others"], dict(note["never"])


def test_columns_are_sorted_by_who_may_know_them():
    known, others, never = sorted_columns(io.Reading(layout="people"))
    assert known == ["Age", "sex", "PLZ"]
    assert others == ["q1"]
    assert never == {"badge_no": "id", "token": "id", "remarks": "text", "StandardHours": "constant"}


def test_columns_that_were_named_are_known_whatever_they_hold():
    known, others, never = sorted_columns(io.Reading(layout="people", columns=("q1", "remarks")))
    assert (known, others, never) == (["q1", "remarks"], [], {})
