import gzip

import numpy as np
import pytest

from reidrisk.base.errors import FormatError
from reidrisk_studies.carey.items import ItemSets, as_bags, drawn, read_lastfm, read_msweb


def squeezed(path, text):
    path.write_bytes(gzip.compress(text.encode()))
    return path


def test_samples_are_uniform_over_a_users_items_and_apart_between_observers():
    sets = ItemSets(np.arange(0, 30_001, 3), np.tile(np.arange(3, dtype=np.int32), 10_000) + 4, n_items=9)
    one, two = (sets.sample(2, seed=1, observer=name) for name in "ab")
    joint = np.zeros((9, 9))
    np.add.at(joint, (one.tokens.ravel(), two.tokens.ravel()), 1)
    share = joint / joint.sum()
    assert share[4:7, 4:7].sum() == pytest.approx(1.0)
    assert share[4:7, 4:7] == pytest.approx(np.full((3, 3), 1 / 9), abs=0.01)
    assert np.array_equal(sets.sample(2, seed=1, observer="a").tokens, one.tokens)


def test_drawn_users_have_different_items_and_more_users_start_with_the_same():
    popularity = 1.0 / np.arange(1, 51)

    def sizes(rng, size):
        return rng.integers(1, 6, size)

    few, many = (drawn(n, sizes, popularity, seed=2) for n in (1_000, 20_000))
    for u in range(len(few)):
        mine = few.items[few.offsets[u] : few.offsets[u + 1]]
        assert len(set(mine.tolist())) == len(mine)
    assert np.array_equal(many.items[: len(few.items)], few.items)
    assert np.array_equal(many.sizes[: len(few)], few.sizes)


def test_drawing_without_replacement_has_the_probabilities_of_taking_one_after_the_other():
    # Two of three items with weights 3, 2, 1: P{a, b} = 3/6 * 2/3 + 2/6 * 3/4, and so on.
    sets = drawn(40_000, lambda rng, size: np.full(size, 2), np.array([3.0, 2.0, 1.0]), seed=0)
    pairs = np.sort(sets.items.reshape(-1, 2), axis=1)
    expected = {
        (0, 1): 3 / 6 * 2 / 3 + 2 / 6 * 3 / 4,
        (0, 2): 3 / 6 / 3 + 1 / 6 * 3 / 5,
        (1, 2): 2 / 6 / 4 + 1 / 6 * 2 / 5,
    }
    for pair, probability in expected.items():
        assert np.mean((pairs == pair).all(axis=1)) == pytest.approx(probability, abs=0.01)


def test_bags_count_what_traces_hold():
    sets = drawn(50, lambda rng, size: np.full(size, 3), np.ones(7), seed=1)
    traces = sets.sample(5, seed=0, observer="a")
    dense = as_bags(traces).counts.toarray()
    assert dense.sum(axis=1).tolist() == [5] * 50
    assert all(dense[u, token] == np.sum(traces.tokens[u] == token) for u in range(50) for token in range(7))


def test_small_files_are_read(tmp_path):
    lastfm = squeezed(tmp_path / "a.dat.gz", "userID\tartistID\tweight\n2\t51\t9\n2\t52\t1\n7\t51\t3\n2\t51\t4\n")
    sets = read_lastfm(lastfm)
    assert (len(sets), sets.n_items, sets.sizes.tolist(), sets.holders.tolist()) == (2, 2, [2, 1], [2, 1])
    text = (
        'I,4,"x"\nA,1287,1,"Area","/a"\nA,1288,1,"B, b","/b"\nC,"10001",10001\nV,1288,1\nC,"2",2\nV,1287,1\nV,1288,1\n'
    )
    sets = read_msweb(squeezed(tmp_path / "b.gz", text))
    assert (len(sets), sets.n_items, sets.sizes.tolist(), sets.items.tolist()) == (2, 2, [1, 2], [1, 0, 1])


@pytest.mark.parametrize("text", ["a,b\n1,2\n", "V,1,1\n", ""])
def test_files_that_are_something_else_are_refused_by_name(tmp_path, text):
    path = squeezed(tmp_path / "odd.gz", text)
    for read in (read_lastfm, read_msweb):
        with pytest.raises(FormatError, match=r"odd\.gz"):
            read(path)


def test_damaged_files_are_refused_by_name(tmp_path):
    numbers = tmp_path / "odd.dat"
    for cell in ("x", "", "1.5", "9" * 30):
        numbers.write_text(f"userID\tartistID\tweight\n1\t{cell}\t9\n")
        with pytest.raises(FormatError, match=r"odd\.dat"):
            read_lastfm(numbers)
    packed = gzip.compress(b'A,1,1,"a"\nC,"1",1\nV,1,1\n' * 50)
    bad = tmp_path / "odd.gz"
    bad.write_bytes(packed[:14] + bytes(255 - byte for byte in packed[14:30]) + packed[30:])
    with pytest.raises(FormatError, match=r"odd\.gz"):
        read_msweb(bad)


@pytest.mark.data
def test_the_public_files_have_their_published_sizes(study_file):
    lastfm = read_lastfm(study_file("lastfm_hetrec2k/user_artists.dat.gz"))
    assert (len(lastfm), lastfm.n_items, len(lastfm.items), lastfm.sizes.max()) == (1_892, 17_632, 92_834, 50)
    msweb = read_msweb(study_file("msweb/anonymous-msweb.data.gz"))
    assert (len(msweb), msweb.n_items) == (32_711, 294)
