"""Tables cut the SimHash space into cohorts: Chrome's own, and fitted ones."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reidrisk import cohorts
from reidrisk.base.errors import DataError, FormatError, OptionError, ReidRiskError
from reidrisk.cohorts import SortingLSH


@pytest.fixture
def chrome_table(study_file) -> SortingLSH:
    return SortingLSH.from_chrome(study_file("floc_lsh_clusters/SortingLshClusters"))


def test_chromes_table_has_the_published_numbers_and_is_made_of_halves(chrome_table):
    table = chrome_table
    assert (len(table), int(table.blocked.sum())) == (33_872, 792)
    sizes = 1 << table.log_sizes.astype(np.int64)
    starts = np.cumsum(sizes) - sizes
    assert not (starts % sizes).any()
    assert starts[-1] + sizes[-1] == 1 << 50


def test_the_ends_of_chromes_cohorts_fall_where_the_cumulative_sum_says(chrome_table):
    table = chrome_table
    ends = np.cumsum(1 << table.log_sizes.astype(np.int64))
    assert np.array_equal(table.assign(ends - 1), np.arange(len(table)))
    assert np.array_equal(table.assign(ends[:-1]), np.arange(1, len(table)))
    assert table.assign([0, (1 << 50) - 1]).tolist() == [0, len(table) - 1]


def test_users_of_blocked_cohorts_are_shown_without_one():
    table = SortingLSH([49, 49])
    users = [[f"u{u}d{i}.org" for i in range(8)] for u in range(50)]
    plain = table.cohort(users)
    assert set(plain.tolist()) == {0, 1}
    shown = table.with_blocked([1]).cohort(users, shown=True)
    assert np.array_equal(shown, np.where(plain == 1, -1, plain))
    assert np.array_equal(table.with_blocked([1]).cohort(users), plain)


def test_seven_distinct_domains_make_a_cohort():
    table = SortingLSH([50])
    six = [f"d{i}.org" for i in range(6)]
    assert table.cohort([six, [*six, "d0.org"], [*six, "d6.org"]]).tolist() == [-1, -1, 0]
    assert table.cohort([], min_domains=0) == 0


def test_a_table_survives_writing_and_reading(tmp_path):
    table = SortingLSH([2, 1, 0, 0], [False, True, False, True], bits=3)
    table.write(tmp_path / "table")
    assert (tmp_path / "table").read_bytes() == bytes([2, 65, 0, 64])
    again = SortingLSH.from_chrome(tmp_path / "table", bits=3)
    assert again == table
    assert hash(again) == hash(table)
    assert again != table.with_blocked([0])


def halves(hashes: list[int], low: int, log_size: int, k: int) -> list[tuple[int, int]]:
    """Cut by the definition, one range after the other: log2 sizes, and users."""
    middle = low + (1 << log_size >> 1)
    sides = [h for h in hashes if h < middle], [h for h in hashes if h >= middle]
    whole = [(log_size, len(hashes))]
    if log_size == 0 or any(0 < len(side) < k for side in sides):
        return whole
    parts = halves(sides[0], low, log_size - 1, k) + halves(sides[1], middle, log_size - 1, k)
    return parts if sum(users > 0 for _, users in parts) > 1 else whole


@given(st.lists(st.integers(0, 255), min_size=1, max_size=60), st.integers(1, 8))
@settings(max_examples=150, deadline=None)
def test_a_fitted_table_is_halved_as_long_as_both_halves_hold_k_users(hashes, k):
    if len(hashes) < k:
        with pytest.raises(DataError, match="lower min_size"):
            SortingLSH.fit(hashes, k, bits=8)
        return
    table = SortingLSH.fit(hashes, k, bits=8)
    sizes = np.bincount(table.assign(hashes), minlength=len(table)).tolist()
    assert list(zip(table.log_sizes.tolist(), sizes, strict=True)) == halves(hashes, 0, 8, k)
    assert cohorts.k_anonymity(table.assign(hashes)) >= k


def test_fitted_cohorts_of_real_simhashes_are_k_anonymous():
    hashes = cohorts.simhash([[f"d{(u * 7 + i * i) % 300}.org" for i in range(8)] for u in range(3_000)])
    table = SortingLSH.fit(hashes, min_size=40)
    assert len(table) > 20
    assert cohorts.k_anonymity(table.assign(hashes)) >= 40


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "the file is empty"),
        (bytes([2, 1]), r"add up to 6, not to 2\^3 = 8"),
        (bytes([2, 2, 0]), r"add up to 9, not to 2\^3"),
        (bytes([2, 200, 1]), "byte 1 is 200"),
        (bytes([2, 5]), "cohort 1 has log2 size 5"),
    ],
)
def test_a_table_that_is_none_is_refused_by_name(content, words, tmp_path):
    file = tmp_path / "table"
    file.write_bytes(content)
    with pytest.raises(ReidRiskError, match=words) as refused:
        SortingLSH.from_chrome(file, bits=3)
    assert str(refused.value).startswith(str(file))
    assert "\n" not in str(refused.value)


def test_a_truncated_copy_of_chromes_table_is_refused(chrome_table, tmp_path):
    chrome_table.write(tmp_path / "whole")
    (tmp_path / "part").write_bytes((tmp_path / "whole").read_bytes()[:30_000])
    with pytest.raises(DataError, match=r"30,000 cohorts add up to .* not to 2\^50"):
        SortingLSH.from_chrome(tmp_path / "part")


def test_other_bad_input_is_refused(tmp_path):
    with pytest.raises(FormatError, match="no such file"):
        SortingLSH.from_chrome(tmp_path / "nowhere")
    table = SortingLSH([2, 1, 1], bits=3)
    with pytest.raises(DataError, match="cohort 3 is unknown"):
        table.with_blocked([3])
    with pytest.raises(DataError, match="the hash 8 of user 1 is not of 3 bits"):
        table.assign([0, 8])
    with pytest.raises(DataError, match="the hash -1 of user 0"):
        table.assign([-1])
    with pytest.raises(DataError, match="whole number"):
        table.assign([0.5])
    with pytest.raises(DataError, match="one true or false"):
        SortingLSH([2, 1, 1], [True], bits=3)
    with pytest.raises(OptionError, match="min_domains"):
        table.cohort(["a.org"], min_domains=-1)
    with pytest.raises(OptionError, match="min_size"):
        SortingLSH.fit([1, 2], 0)
    with pytest.raises(OptionError, match="bits"):
        SortingLSH([64], bits=64)


def test_registrable_domains_follow_todays_public_suffix_list():
    pytest.importorskip("publicsuffixlist")
    assert cohorts.registrable(["www.yahoo.co.jp", "MAIL.example.org.", "bücher.example.de"]) == [
        "yahoo.co.jp",
        "example.org",
        "example.de",
    ]
    # A suffix since: the user of the known answer would have another history today.
    assert cohorts.registrable(["hatenablog.com"], invalid="none") == [None]


@pytest.mark.parametrize(
    ("host", "words"),
    [
        ("192.168.0.1", "it is an IP address"),
        ("[2001:db8::1]", "an IP address"),
        ("2001:db8::1", "an IP address"),
        ("1.2.3.0x7f", "an IP address"),
        ("co.uk", "being a public suffix"),
        ("localhost", "a single label"),
        ("http://a.org", "it has a scheme"),
        ("a.org:8080", "it has a port"),
        ("a..org", "not a well-formed name"),
        ("", "it is empty"),
        (None, "it is no text"),
    ],
)
def test_a_host_without_a_registrable_domain_is_named(host, words):
    pytest.importorskip("publicsuffixlist")
    with pytest.raises(DataError, match=words) as refused:
        cohorts.registrable(["a.org", host])
    assert "host 1 is " in str(refused.value)
    assert cohorts.registrable([host, "a.org"], invalid="none") == [None, "a.org"]


def test_registrable_without_the_library_says_how_to_get_it(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "publicsuffixlist", None)
    with pytest.raises(ReidRiskError, match=r'pip install "\.\[topics\]"'):
        cohorts.registrable(["a.org"])
    with pytest.raises(DataError, match="one string"):
        cohorts.registrable("a.org")
    with pytest.raises(OptionError, match="invalid"):
        cohorts.registrable(["a.org"], invalid="count")
