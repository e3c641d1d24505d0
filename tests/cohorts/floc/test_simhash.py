"""CityHash64 v1.0.3 and SimHash are those of Chrome: published values, an outside program's values, a slow twin."""

import hashlib
import math

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from cohort_twins import city_hash as city
from cohort_twins import sim_hash
from hypothesis import given, settings
from hypothesis import strategies as st

from reidrisk import cohorts
from reidrisk.base.errors import DataError, OptionError

KNOWN = ["nikkei.com", "hatenablog.com", "nikkansports.com", "yahoo.co.jp"]
KNOWN += ["sponichi.co.jp", "cnn.co.jp", "floc.glitch.me", "ohtsu.org"]
SAMPLE = bytes((37 * i + 11) & 255 for i in range(201))

# Of SAMPLE[:length], from a C++ program written after the published algorithm alone and kept out of this project.
OUTSIDE = {
    0: 0x9AE16A3B2F90404F,
    1: 0x043648E8F1E3D715,
    3: 0xA2C53C985BE56A2F,
    4: 0x4157856F6D3CE3B2,
    8: 0x897131B7F17D0588,
    9: 0x281E9DEA0FBE631E,
    16: 0x3292EE8642E63927,
    17: 0x3040AE7626E452E2,
    32: 0xE1EAE5F14516BE5B,
    33: 0xEEF23C18CEF14A71,
    64: 0x40F9113EBA41913B,
    65: 0x5709ECEF010A51E4,
    128: 0xA9E79AD8F1C9F5A7,
    129: 0x6BB7BAD48EE8EBE7,
    200: 0xC859BC06968237C1,
}
# SHA-256 of that program's values for all lengths 0 to 200, plain and with seed 112358, 8 bytes each.
OUTSIDE_DIGEST = "2db26fe72d9fd8a58c26501a8f078748d0b1465a4df5c204ba63aa97a649f3ef"


@pytest.mark.parametrize("length", OUTSIDE)
def test_cityhash_at_its_branches_is_that_of_an_outside_program(length):
    assert int(cohorts.cityhash64([SAMPLE[:length]])[0]) == OUTSIDE[length] == city(SAMPLE[:length])


def test_cityhash_of_all_lengths_to_200_is_that_of_an_outside_program():
    parts = [SAMPLE[:length] for length in range(201)]
    seeded = [city(part, seed=112358) for part in parts]
    pairs = zip(cohorts.cityhash64(parts).tolist(), seeded, strict=True)
    joined = b"".join(value.to_bytes(8, "little") for pair in pairs for value in pair)
    assert hashlib.sha256(joined).hexdigest() == OUTSIDE_DIGEST


@pytest.mark.parametrize(
    ("text", "plain", "seeded"),
    [
        ("", 11160318154034397263, 14404538258149959151),
        ("0123456789", 12631666426400459317, 12757304017804637665),
        ("hello world", 12386028635079221413, 4144044770257928618),
    ],
)
def test_cityhash_has_the_values_of_chromes_own_test(text, plain, seeded):
    assert int(cohorts.cityhash64([text])[0]) == plain
    assert city(text.encode(), seed=112358) == seeded


@given(st.lists(st.binary(max_size=300), max_size=8))
@settings(max_examples=100, deadline=None)
def test_the_compiled_cityhash_is_its_plain_twin(values):
    assert cohorts.cityhash64(values).tolist() == [city(value) for value in values]


def test_cityhash_reads_slices_chunks_and_text():
    column = pa.array(["a.org", "b.org", "c.org", "ü.org"])
    expected = [city(text.encode()) for text in column.to_pylist()]
    assert cohorts.cityhash64(column.slice(1)).tolist() == expected[1:]
    assert cohorts.cityhash64(pa.chunked_array([column.slice(0, 2), column.slice(2)])).tolist() == expected
    assert cohorts.cityhash64(pl.Series(column)).tolist() == expected
    assert cohorts.cityhash64([]).tolist() == []


def test_the_known_user_has_the_simhash_and_cohort_seen_in_chrome(study_file):
    assert cohorts.simhash(KNOWN) == 779363756518407
    table = cohorts.SortingLSH.from_chrome(study_file("floc_lsh_clusters/SortingLshClusters"))
    assert table.cohort(KNOWN) == table.cohort(KNOWN, shown=True) == 21454
    assert table.cohort([KNOWN, KNOWN[:6]]).tolist() == [21454, -1]


def test_the_known_simhash_needs_no_data():
    assert cohorts.simhash([KNOWN[::-1], KNOWN + KNOWN]).tolist() == [779363756518407] * 2


DOMAINS = st.lists(st.sampled_from([f"d{i}.example.org" for i in range(12)]), max_size=10)


@given(st.lists(DOMAINS, min_size=1, max_size=4), st.integers(1, 64))
@settings(max_examples=40, deadline=None)
def test_the_compiled_simhash_is_its_numpy_twin(users, bits):
    assert cohorts.simhash(pa.array(users, type=pa.list_(pa.string())), bits).tolist() == [
        sim_hash(user, bits) for user in users
    ]


def test_domains_beyond_the_cache_are_hashed_just_the_same(monkeypatch):
    import sys

    module = sys.modules["reidrisk.cohorts.floc.simhash"]
    users = [[f"d{i}.org" for i in range(start, start + 9)] for start in range(40)]
    expected = cohorts.simhash(users)
    monkeypatch.setattr(module, "_CACHED", 50 * 20)
    assert cohorts.simhash(users).tolist() == expected.tolist()
    monkeypatch.setattr(module, "_SHARD", 7)
    assert cohorts.simhash(users).tolist() == expected.tolist()


def test_hamming_distance_of_simhashes_grows_with_the_angle():
    """P(a bit differs) = angle / pi; 400 pairs x 50 bits give a standard error of about 0.004 a point."""
    pairs = 400
    for shared in (0, 5, 10, 15, 19):
        common = [[f"{p}-{i}.org" for i in range(shared)] for p in range(pairs)]
        one = [row + [f"{p}-a{i}.org" for i in range(20 - shared)] for p, row in enumerate(common)]
        two = [row + [f"{p}-b{i}.org" for i in range(20 - shared)] for p, row in enumerate(common)]
        different = cohorts.simhash(one) ^ cohorts.simhash(two)
        share = np.mean([value.bit_count() for value in different.tolist()]) / 50
        assert share == pytest.approx(math.acos(shared / 20) / math.pi, abs=0.016), shared


def test_every_bit_is_set_for_half_of_the_users():
    hashes = cohorts.simhash([[f"u{u}d{i}.org" for i in range(7)] for u in range(4_000)])
    set_share = (hashes[:, None] >> np.arange(50, dtype=np.uint64) & np.uint64(1)).mean(axis=0)
    assert set_share == pytest.approx(np.full(50, 0.5), abs=0.04)  # five standard errors


def test_histories_come_as_lists_sets_and_columns():
    users = [["a.org", "b.org"], ["c.org"]]
    expected = cohorts.simhash(users).tolist()
    column = pa.array(users)
    assert cohorts.simhash([set(row) for row in users]).tolist() == expected
    assert cohorts.simhash(pl.Series(users)).tolist() == expected
    assert cohorts.simhash(column.slice(1)).tolist() == expected[1:]
    assert cohorts.simhash(pa.chunked_array([column, column])).tolist() == expected * 2
    assert cohorts.simhash(np.array([["a.org", "b.org"]])).tolist() == expected[:1]
    assert cohorts.simhash(pl.Series(["a.org", "b.org"])) == expected[0]
    assert cohorts.simhash([]) == 0
    assert cohorts.simhash([[], ["c.org"]]).tolist() == [0, expected[1]]


@pytest.mark.parametrize(
    ("domains", "words"),
    [
        ("a.org", "one string"),
        (7, "give a list of domains"),
        ([["a.org"], "b.org"], "user 1 is the string 'b.org'"),
        ([["a.org"], None], "user 1 has no list"),
        ([["a.org"], ["b.org", None]], "domain 1 of user 1 is missing"),
        ([["a.org"], ["", "b.org"]], "domain 0 of user 1 is empty"),
        ([[1, 2]], "must be strings"),
        (["a.org", 3], "must be strings"),
    ],
)
def test_what_is_no_history_is_refused(domains, words):
    with pytest.raises(DataError, match=words):
        cohorts.simhash(domains)


@pytest.mark.parametrize("bits", [0, 65, 2.5, True])
def test_bits_out_of_range_are_refused(bits):
    with pytest.raises(OptionError, match="bits must be a whole number from 1 to 64"):
        cohorts.simhash(["a.org"], bits)


def test_strings_that_cannot_be_hashed_are_refused():
    with pytest.raises(DataError, match="value 1 is missing"):
        cohorts.cityhash64(["a", None])
    with pytest.raises(DataError, match="one string"):
        cohorts.cityhash64("a")
    with pytest.raises(DataError, match="must be strings"):
        cohorts.cityhash64([object()])
