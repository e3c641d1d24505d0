"""All cells of two files, however they are written, link what says the same, and nobody where nothing does."""

import datetime as dt
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from reidrisk import io
from reidrisk.attacks import AllCells, Hamming, SameCells
from reidrisk.attacks.cells.attack import _tokens
from reidrisk.attacks.cells.forms import forms_of
from reidrisk.audit import AuditSpec
from reidrisk.audit.asking import audit_exports
from reidrisk.base import DataError
from reidrisk.measure import random_user
from reidrisk.measure.alike import distinct
from reidrisk.present import Terms
from reidrisk.present.words.verdict import verdict
from reidrisk.records import Attributes, Bags, RawTable

Row = dict[str, Any]
WORDS = ("good", "bad", "fast", "slow", "parcel", "thanks", "price", "red", "blue", "small", "never", "again")
START = dt.datetime(2024, 1, 1)


def table(people: list[list[Row]]) -> Bags:
    """Return records that hold nothing but the cells of their rows."""
    rows = [row for one in people for row in one]
    columns = {name: pa.chunked_array([pa.array([row[name] for row in rows])]) for name in rows[0]}
    owner = np.repeat(np.arange(len(people)), [len(one) for one in people])
    return Bags(np.ones((len(people), 1), dtype=int)).with_raw(RawTable.of(columns, owner, len(people)))


def pair(make: Callable[[random.Random], tuple[Any, Any]], n: int = 200, seed: int = 0) -> tuple[Bags, Bags, Any]:
    """Return the two tables of people whose rows ``make`` writes twice, the second in another order of people."""
    draw = random.Random(seed)
    made = [make(draw) for _ in range(n)]
    known, asked = ([one if isinstance(one, list) else [one] for one in side] for side in zip(*made, strict=True))
    order = draw.sample(range(n), n)
    return table(known), table([draw.sample(asked[i], len(asked[i])) for i in order]), np.array(order)


def rate(attack: Any, known: Bags, asked: Bags, truth: Any) -> float:
    links = attack.fit(known).link(asked)
    return float(np.mean((attack.score(asked, truth) == links.score) / links.n_ties))


def moment(draw: random.Random) -> dt.datetime:
    return START + dt.timedelta(seconds=draw.randrange(60 * 86_400))


def prices(draw: random.Random) -> tuple[Any, Any]:
    paid = [draw.uniform(1, 200) for _ in range(5)]
    return [{"price": f"{x:.2f}"} for x in paid], [{"sum": f"{x:.2f} EUR".replace(".", ",")} for x in paid]


def upper_case(draw: random.Random) -> tuple[Any, Any]:
    labels = [f"Label {draw.randrange(4_000)} x" for _ in range(5)]
    return [{"item": one} for one in labels], [{"what": one.upper()} for one in labels]


def zero_padding(draw: random.Random) -> tuple[Any, Any]:
    items = [draw.randrange(10_000) for _ in range(5)]
    return [{"item": f"{one:08d}"} for one in items], [{"item": one} for one in items]


def phones(draw: random.Random) -> tuple[Any, Any]:
    area, line = draw.randrange(30, 90), draw.randrange(1_000_000, 9_999_999)
    return {"phone": f"+49 (0) {area} / {line}"}, {"tel": f"0{area}{line}"}


def dates(draw: random.Random) -> tuple[Any, Any]:
    day = dt.date(1940, 1, 1) + dt.timedelta(days=draw.randrange(25_000))
    return {"birth": day.isoformat()}, {"dob": day.strftime("%d%b%Y").upper()}


def american_dates(draw: random.Random) -> tuple[Any, Any]:
    day = dt.date(1940, 1, 1) + dt.timedelta(days=draw.randrange(25_000))
    return {"birth": day}, {"dob": day.strftime("%m/%d/%Y")}


def seconds(draw: random.Random) -> tuple[Any, Any]:
    times = [moment(draw) for _ in range(5)]
    return [{"time": one} for one in times], [{"at": one.strftime("%d/%b/%Y:%H:%M:%S +0000")} for one in times]


def ctimes(draw: random.Random) -> tuple[Any, Any]:
    times = [moment(draw) for _ in range(5)]
    return [{"time": int(one.replace(tzinfo=dt.UTC).timestamp())} for one in times], [
        {"at": one.ctime()} for one in times
    ]


def compact(draw: random.Random) -> tuple[Any, Any]:
    times = [moment(draw).replace(second=0) for _ in range(5)]
    return [{"time": one.isoformat()} for one in times], [{"at": one.strftime("%Y%m%d%H%M")} for one in times]


def coordinates(draw: random.Random) -> tuple[Any, Any]:
    places = [(48 + draw.random(), 11 + draw.random()) for _ in range(3)]
    return [{"lat": f"{a:.6f}", "lon": f"{b:.6f}"} for a, b in places], [{"y": round(a, 4), "x": b} for a, b in places]


def dashes(draw: random.Random) -> tuple[Any, Any]:
    number = f"{draw.randrange(10**9):09d}"
    return {"order": f"{number}k"}, {"ref": f"{number[:3]}-{number[3:6]}-{number[6:]}-K"}


def unicode(draw: random.Random) -> tuple[Any, Any]:
    name = "".join(draw.choice(["é", "ü", "å", "a", "n", "s"]) for _ in range(9))
    import unicodedata

    return {"name": unicodedata.normalize("NFC", name)}, {"name": unicodedata.normalize("NFD", name)}


def remarks(draw: random.Random) -> tuple[Any, Any]:
    words = [draw.choice(WORDS) for _ in range(8)]
    return {"remark": ", ".join(words) + "."}, {"note": " ".join(words).upper() + "!"}


def spellings(draw: random.Random) -> tuple[Any, Any]:
    name = "".join(draw.choice("bdfgklmnprst") + draw.choice("aeiou") for _ in range(5))
    i = draw.randrange(10)
    return {"name": name.title()}, {"surname": name[:i] + draw.choice("vwz") + name[i + 1 :]}


def attributes(draw: random.Random) -> tuple[Any, Any]:
    year, code, sex = draw.randrange(1940, 2005), 10_000 + draw.randrange(300), draw.choice("mf")
    return {"birth_year": year, "postcode": code, "sex": sex}, {
        "sex": sex.upper(),
        "yob": f"{year}.0",
        "zip": str(code),
    }


def constants(draw: random.Random) -> tuple[Any, Any]:
    device = f"dev-{draw.randrange(10**6):x}"
    sides = ([{"time": str(moment(draw)), "what": draw.randrange(9), "on": device} for _ in range(4)] for _ in "ab")
    return tuple(sides)  # type: ignore[return-value]


WRITTEN = [prices, upper_case, zero_padding, phones, dates, american_dates, seconds, ctimes, compact, coordinates]
WRITTEN += [dashes, unicode, remarks, spellings, attributes, constants]


@pytest.mark.parametrize("make", WRITTEN, ids=lambda make: make.__name__)
def test_tables_of_the_same_facts_are_linked_however_they_are_written(make: Any) -> None:
    assert rate(AllCells(), *pair(make)) >= 0.9


def test_identical_tables_are_linked_by_rows_of_which_no_cell_is_rare() -> None:
    def same(draw: random.Random) -> tuple[Any, Any]:
        rows = [{"a": draw.randrange(12), "b": draw.randrange(12), "c": draw.randrange(12)} for _ in range(4)]
        return rows, rows

    for attack in (AllCells(), SameCells()):
        assert rate(attack, *pair(same)) >= 0.9


def test_one_exact_column_among_forty_of_noise_is_found_and_noise_alone_is_not() -> None:
    def vectors(draw: random.Random, shared: int) -> tuple[Any, Any]:
        known, asked = ([draw.gauss(0, 1) for _ in range(40)] for _ in "ab")
        asked[:shared] = known[:shared]
        return tuple({f"d{i}": x for i, x in enumerate(one)} for one in (known, asked))  # type: ignore[return-value]

    assert rate(SameCells(), *pair(lambda draw: vectors(draw, 1))) >= 0.9
    assert rate(SameCells(), *pair(lambda draw: vectors(draw, 0))) < 0.05


def test_row_numbers_do_no_harm() -> None:
    def numbered(draw: random.Random) -> tuple[Any, Any]:
        known, asked = attributes(draw)
        return known | {"id": 0}, asked | {"id": 0}

    known, asked, truth = pair(numbered)
    for side in (known, asked):
        side.raw.columns["id"] = pa.chunked_array([pa.array(range(1, len(side) + 1))])
    assert rate(AllCells(), known, asked, truth) >= 0.9


def unrelated(draw: random.Random) -> tuple[Any, Any]:
    sides = (
        [{"at": moment(draw), "c": draw.randrange(12), "p": round(draw.uniform(1, 50), 2)} for _ in range(6)]
        for _ in "ab"
    )
    return tuple(sides)  # type: ignore[return-value]


@pytest.mark.parametrize("kind", [AllCells, SameCells])
def test_tables_of_nothing_in_common_are_linked_as_by_guessing(kind: Any) -> None:
    found = []
    for seed in range(20):
        known, asked, truth = pair(unrelated, 60, seed)
        found.append(random_user(kind(), known, asked, truth))
    inside = sum(one.low <= one.baseline <= one.high for one in found)
    assert inside >= 19
    assert np.mean([one.rate for one in found]) < 0.04


def slow_scores(known: Bags, asked: Bags, exact: bool) -> np.ndarray:
    """Score all pairs one by one: tokens of each person in each column, from the forms of single cells."""
    import polars as pl

    from reidrisk.attacks.cells.attack import _POWER, _STEPS, _mixed
    from reidrisk.attacks.cells.forms import as_text, is_part

    def held(raw: RawTable) -> list[dict[tuple[Any, ...], set[int]]]:
        names = raw.names
        cells = {name: as_text(raw.column(name)).to_list() for name in names}
        people: list[dict[tuple[Any, ...], set[int]]] = [{} for _ in range(len(raw))]
        for row, who in enumerate(raw.owner.tolist()):
            forms = [forms_of(pl.Series([cells[name][row]], dtype=pl.String), exact) for name in names]
            for i, one in enumerate(forms):
                people[who].setdefault((i,), set()).update(one.token.tolist())
            for i in range(len(names)):
                for j in range(i + 1, len(names)):
                    if not all(forms[k].fine[0] for k in (i, j)):
                        continue
                    fine, coarse = (
                        int(_mixed([getattr(forms[k], of) for k in (i, j)])[0]) for of in ("fine", "coarse")
                    )
                    people[who].setdefault((i, j), set()).add(fine)
                    if not exact and coarse != fine:
                        people[who].setdefault((i, j, "coarse"), set()).add(coarse)
            every = int(_mixed([one.fine for one in forms])[0])
            people[who].setdefault(tuple(range(len(names))), set()).add(every)
        return people

    one, two = held(known.raw), held(asked.raw)
    n, per = len(one), known.raw.per_record
    scores = np.zeros((len(two), n), dtype=np.int64)
    for q, tokens in enumerate(two):
        every = set().union(*tokens.values())
        for t, person in enumerate(one):
            for source, own in person.items():
                for token in own & every:
                    holders = sum(token in other.get(source, ()) for other in one)
                    part = 0.25 if is_part(np.array([token], dtype=np.uint64))[0] else 1.0
                    scores[q, t] += round(_STEPS * part * np.log(n / holders) ** _POWER / max(per[t], 1) ** 0.5)
    return scores


@pytest.mark.parametrize("kind", [AllCells, SameCells])
@pytest.mark.parametrize("seed", [0, 1])
def test_scores_are_those_of_a_plain_loop(kind: Any, seed: int) -> None:
    def mixed(draw: random.Random) -> tuple[Any, Any]:
        def rows() -> list[Row]:
            texts = ["Parcel late", "parcel", "LATE!", None, "12,5", "007", "13.02.2024"]
            return [
                {"a": draw.choice(texts), "b": draw.randrange(4), "c": round(draw.random(), draw.randrange(1, 5))}
                for _ in range(draw.randrange(1, 4))
            ]

        return rows(), rows()

    known, asked, _ = pair(mixed, 12, seed)
    attack = kind().fit(known)
    slow = slow_scores(known, asked, attack.exact)
    assert np.array_equal(attack.near_best(asked, np.zeros(12, np.int64)), slow)
    links = attack.link(asked)
    assert np.array_equal(links.score, slow.max(axis=1))
    assert np.array_equal(links.n_ties, (slow == slow.max(axis=1, keepdims=True)).sum(axis=1))


def test_people_whose_rows_say_the_same_tie_exactly() -> None:
    rows = [[{"a": "x", "b": 1.5}], [{"b": 1.5, "a": "X"}], [{"a": "y", "b": 2.5}]]
    links = AllCells().fit(table(rows)).link(table(rows))
    assert links.n_ties.tolist() == [2, 2, 1]
    assert links.score.dtype == np.int64


def test_order_of_rows_and_columns_and_their_names_say_nothing() -> None:
    known, asked, _ = pair(attributes)
    draw = np.random.default_rng(0)

    def shuffled(side: Bags) -> Bags:
        raw = side.raw
        rows, names = draw.permutation(len(raw.row)), draw.permutation(raw.names)
        columns = {f"x{i}": raw.columns[name].take(pa.array(rows)) for i, name in enumerate(names)}
        return side.with_raw(RawTable.of(columns, raw.owner[np.argsort(raw.row)][rows], len(raw)))

    plain = AllCells().fit(known).link(asked)
    moved = AllCells().fit(shuffled(known)).link(shuffled(asked))
    assert np.array_equal(plain.score, moved.score)
    assert np.array_equal(plain.n_ties, moved.n_ties)


def test_the_answer_to_some_queries_is_that_among_all_and_narrowing_keeps_what_is_rare() -> None:
    known, asked, _ = pair(attributes)
    attack, rows = AllCells().fit(known), np.array([7, 3, 90])
    every = attack.near_best(asked, np.zeros(len(asked), np.int64))
    fresh = AllCells().fit(known)
    assert np.array_equal(fresh.near_best(asked.take(rows), np.zeros(3, np.int64)), every[rows])
    assert np.array_equal(fresh.narrowed(rows).near_best(asked, np.zeros(len(asked), np.int64)), every[:, rows])


def test_what_too_many_hold_is_not_compared_and_the_rest_weighs_as_before(monkeypatch: Any) -> None:
    from reidrisk.attacks.cells import attack as module

    def rows(side: str) -> list[list[Row]]:
        return [[{side: "common" if i < 30 else f"rare {i}"}, {side: f"own {i}"}] for i in range(60)]

    known, asked = table(rows("a")), table(rows("b"))
    full = SameCells().fit(known).near_best(asked, np.zeros(60, np.int64))
    monkeypatch.setattr(module, "_HELD", 29)
    less = SameCells().fit(known).near_best(asked, np.zeros(60, np.int64))
    away = full - less
    assert (away[:30, :30] == away[0, 0]).all()
    assert away[0, 0] > 0
    assert not away[30:].any()
    assert not away[:, 30:].any()


def test_cells_of_one_meaning_have_one_token() -> None:
    import polars as pl

    same = [
        ("12.50", "012,5", "+12.5"),
        ("Müller-Ost", "muller ost", "MU\u0308LLER OST"),
        ("2024-02-13", "13.02.2024", "02/13/2024", "13FEB2024", "13 February 2024", "20240213"),
        ("2024-02-13 14:07:33", "13FEB2024:14:07:33", "Tue Feb 13 14:07:33 2024", "02/13/2024 2:07:33 PM"),
    ]
    for cells in same:
        assert len({*forms_of(pl.Series(cells)).fine.tolist()}) == 1, cells


def test_equal_attributes_are_no_equal_queries_of_an_attack_on_cells() -> None:
    people = Attributes({"id": ["a", "b"], "sex": ["m", "m"]}, user="id")
    assert len(distinct(people, Hamming())[0]) == 1
    assert len(distinct(people, AllCells())[0]) == 2


def test_records_without_cells_are_refused_in_a_line() -> None:
    bags = Bags([[1], [1]])
    assert not AllCells.applies(bags, bags)
    with pytest.raises(DataError, match="cells of a file"):
        AllCells().fit(bags)


def test_an_audit_finds_people_by_a_column_that_it_did_not_use_and_names_it() -> None:
    draw = random.Random(3)
    paid = [(u, draw.uniform(1, 200)) for u in range(80) for _ in range(4)]
    known = {"user": [u for u, _ in paid], "item": [f"p{draw.randrange(5)}" for _ in paid]}
    asked = {"user": known["user"], "item": [f"p{draw.randrange(5)}" for _ in paid]}
    known["price"], asked["sum"] = [f"{x:.2f}" for _, x in paid], [f"{x:.2f} EUR" for _, x in paid]
    exports = io.read_exports(known, asked, io.Reading(items=("item",)))
    found = audit_exports(exports, AuditSpec(seed=1, attacks=("all-cells", "bm25")))
    assert found.strongest.attack == "AllCells"
    note = next(one for one in found.notes if one.code == "cells-carried-by")
    assert (note["columns"], note["unused"]) == (["price"], ["price"])
    assert note["share"] > 0.9
    assert "'price'" in str(verdict(found, Terms()))


def test_tokens_of_a_person_are_each_there_once() -> None:
    owner, token = _tokens(table([[{"a": "x"}, {"a": "X"}], [{"a": "y"}]]).raw, exact=True)
    assert owner.tolist() == [0, 1]
    assert len({*token.tolist()}) == 2


def test_who_has_no_rows_ties_with_everybody() -> None:
    known, _, _ = pair(attributes, 5)
    nobody = Bags([[1]]).with_raw(
        RawTable.of({"a": pa.chunked_array([pa.array([], pa.string())])}, np.zeros(0, int), 1)
    )
    assert AllCells().fit(known).link(nobody).n_ties.tolist() == [5]
    assert AllCells().fit(nobody).link(known).n_ties.tolist() == [1] * 5
