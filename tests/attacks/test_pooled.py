"""Colluding observers, missing tokens and narrowed attacks, against plain loops over the definitions."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from reidrisk import Bags, TopSets, Traces, attacks, measure, topics
from reidrisk.base.errors import DataError, OptionError
from reidrisk_studies.jha import personas

EVERY = {
    "hamming": attacks.Hamming(),
    "weighted": attacks.WeightedHamming(2, 0.1),
    "per epoch": attacks.WeightedHamming(2, 0.1, per_epoch=True),
    "strict": attacks.StrictSets(2),
    "loose": attacks.LooseSets(2),
    "unique": attacks.LooseSets(2, require_unique=True),
    "bayes": attacks.ProfileBayes(2, 0.1, threads=1),
    "bayes without top sets": attacks.ProfileBayes(threads=1),
}
RANKING = ("hamming", "weighted", "per epoch", "bayes", "bayes without top sets")  # which always answer


def table(rng, n, r, n_tokens=6, gaps=0.2, users=None):
    tokens = rng.integers(0, n_tokens, (n, r))
    return Traces(np.where(rng.random((n, r)) < gaps, -1, tokens), n_tokens, users=users)


def test_users_are_matched_by_id_in_any_order_and_may_be_missing():
    a = Traces([[1, 2], [3, 4]], 9, users=[10, 20])
    b = Traces([[5, 6], [7, 8], [0, 0]], 9, users=[30, 10, 40])
    both = attacks.pool([a, b])
    assert both.users.tolist() == [10, 20, 30, 40]
    assert both.side_by_side().tokens.tolist() == [[1, 2, 7, 8], [3, 4, -1, -1], [-1, -1, 5, 6], [-1, -1, 0, 0]]
    assert both.epochs(1).side_by_side().tokens.tolist() == [[1, 7], [3, -1], [-1, 5], [-1, 0]]
    assert both.take(np.array([2, 0])).users.tolist() == [30, 10]


@given(
    st.integers(0, 2**20), st.integers(1, 3), st.integers(1, 3), st.sampled_from(["hamming", "weighted", "per epoch"])
)
@settings(deadline=None, max_examples=40)
def test_positional_scores_add_up_over_pairs_of_observers(seed, n_targets, n_queries, which):
    rng = np.random.default_rng(seed)
    one = [table(rng, 5, 3) for _ in range(n_targets)]
    assume(all((each.tokens >= 0).any(axis=0).all() for each in one))  # an epoch that nobody saw teaches nothing
    two = [table(rng, 4, 3) for _ in range(n_queries)]
    attack = EVERY[which].fit(one)
    match, mismatch = attack.weights_.match, attack.weights_.mismatch
    score = np.zeros((4, 5), dtype=np.int64)
    for s, targets in enumerate(one):
        for queries in two:
            for e in range(3):
                row = (s * 3 + e) % len(match)
                for i, o in enumerate(queries.tokens[:, e]):
                    for t, w in enumerate(targets.tokens[:, e]):
                        score[i, t] += (match if o == w else mismatch)[row, o] if o >= 0 and w >= 0 else 0
    links = attack.link(two)
    assert np.array_equal(links.score, score.max(axis=1))
    assert np.array_equal(links.n_ties, (score == score.max(axis=1)[:, None]).sum(axis=1))
    assert np.array_equal(links.target, score.argmax(axis=1))
    every = np.stack([attack.score(two, np.full(4, t)) for t in range(5)], axis=1)
    assert np.array_equal(every, score)


@pytest.mark.parametrize("which", EVERY)
def test_one_observer_alone_in_a_list_changes_nothing(which):
    rng = np.random.default_rng(1)
    one, two = table(rng, 30, 4), table(rng, 30, 4)
    plain, listed = EVERY[which].fit(one).link(two), EVERY[which].fit([one]).link([two])
    for a, b in zip(
        (plain.target, plain.score, plain.n_ties), (listed.target, listed.score, listed.n_ties), strict=True
    ):
        assert np.array_equal(a, b)


@pytest.mark.parametrize("which", EVERY)
def test_a_list_of_observers_is_what_pooling_them_gives(which):
    rng = np.random.default_rng(3)
    one, two = ([table(rng, 30, 4) for _ in range(2)] for _ in range(2))
    attack, rows = EVERY[which].fit(one), rng.integers(0, 30, 30)
    for a, b in (
        (attack.link(two), attack.link(attacks.pool(two))),
        (attack.score(two, rows), attack.score(attacks.pool(two), rows)),
        (attack.candidates(two, 5), attack.candidates(attacks.pool(two), 5)),
    ):
        for x, y in zip(*(vars(v).values() if isinstance(v, attacks.Links) else v for v in (a, b)), strict=True):
            assert np.array_equal(x, y)
    before = attack.link(two).score
    two[0], two[1] = table(rng, 30, 4), table(rng, 30, 4)
    after = attack.link(two).score
    assert np.array_equal(after, attack.link(attacks.pool(two)).score), "a list may change in place"
    assert which not in RANKING or not np.array_equal(after, before)


def test_set_attacks_count_a_token_wherever_it_was_seen():
    a, b = Traces([[1, 2], [3, 4]], 9), Traces([[1, 5], [3, 4]], 9)
    query = Traces([[1, 1, 6]], 9)
    assert attacks.StrictSets(2).fit([a, b]).link(query).target.tolist() == [0]
    assert attacks.StrictSets(2).fit(a).link(query).target.tolist() == [-1]


@pytest.mark.parametrize(
    "which", [name for name in EVERY if name != "per epoch"]
)  # which refuses to estimate what nobody saw
def test_an_epoch_that_nobody_saw_changes_no_answer(which):
    rng = np.random.default_rng(2)
    one, two = table(rng, 40, 5), table(rng, 40, 5)
    nothing = np.full((40, 1), -1)
    wider = [Traces(np.hstack([t.tokens[:, :2], nothing, t.tokens[:, 2:]]), 6) for t in (one, two)]
    before, after = EVERY[which].fit(one).link(two), EVERY[which].fit(wider[0]).link(wider[1])
    assert np.array_equal(before.target, after.target)
    assert np.array_equal(before.n_ties, after.n_ties)


@pytest.mark.parametrize("which", EVERY)
def test_a_record_with_no_token_at_all_is_never_found_by_merit(which):
    targets = Traces([[1, 1, 2], [-1, -1, -1], [3, 3, 4]], 6)
    nobody = Traces([[-1, -1, -1]], 6)
    links = EVERY[which].fit(targets).link(nobody)
    if which in RANKING:
        assert (links.n_ties[0], links.score[0]) == (3, 0)  # says nothing: every target ties
    else:
        assert links.target.tolist() == [-1]


@given(st.integers(0, 2**20), st.sampled_from(list(EVERY)))
@settings(deadline=None, max_examples=60)
def test_narrowed_attacks_link_as_if_the_other_targets_were_not_there(seed, which):
    rng = np.random.default_rng(seed)
    one, two = table(rng, 12, 4, 4), table(rng, 6, 4, 4)
    rows = rng.permutation(12)[: rng.integers(1, 12)]
    attack = EVERY[which].fit(one)
    narrow = attack.narrowed(rows)
    links = narrow.link(two)
    score = np.stack([attack.score(two, np.full(6, t)) for t in rows], axis=1)
    if which in RANKING:
        assert np.array_equal(links.target, score.argmax(axis=1))
        assert np.array_equal(links.n_ties, (score == score.max(axis=1)[:, None]).sum(axis=1))
        slow = attacks.base.Narrowed(attack, rows).link(two)
        assert np.array_equal(slow.target, links.target)
        assert np.array_equal(slow.n_ties, links.n_ties)
    else:
        fresh = {**EVERY}[which]
        before = attack.link(two).target.copy()
        again = attack.narrowed(rows).link(two).target
        assert np.array_equal(again, links.target)
        assert np.array_equal(attack.link(two).target, before), "the original is left alone"
        assert np.array_equal(fresh.fit(one.take(rows)).link(two).target, links.target)


SETS = TopSets([[[1, 2]], [[3, 4]], [[0, 1]]], 6)
FITTED = {
    **{name: (attack, Traces([[1], [2], [3]], 6)) for name, attack in EVERY.items()},
    "full": (attacks.FullInformation(SETS), Traces([[1], [2], [3]], 6)),
    "overlap": (attacks.Overlap(), Bags([[1, 0], [0, 1], [1, 1]])),
    "scoreboard": (attacks.Scoreboard(), attacks.Cells([[0.1], [0.2], [0.3]])),
}


@pytest.mark.parametrize("which", FITTED)
def test_rows_to_look_among_must_exist(which):
    attack, records = FITTED[which]
    attack.fit(records)
    for rows, message in (
        ([3], r"target rows lie in \[0, 3\)"),
        ([0, -1], r"target rows lie in \[0, 3\)"),
        ([], "at least one target"),
        ([0.5], "whole numbers"),
        ([[0]], "whole numbers"),
    ):
        with pytest.raises(OptionError, match=message) as caught:
            attack.candidates(records, 1, np.array(rows))
        assert "\n" not in str(caught.value)
        with pytest.raises(OptionError, match=message):
            attack.narrowed(np.array(rows)).link(records)
    assert attack.candidates(records, 1, [2])[0].tolist() == [[2]] * 3


def test_any_attack_can_be_narrowed():
    bags = Bags([[1, 0, 0], [0, 1, 0], [1, 1, 0]])
    narrow = attacks.Overlap().fit(bags).narrowed(np.array([2, 1]))
    links = narrow.link(Bags([[0, 1, 0]]))
    assert (links.target.tolist(), links.n_ties.tolist()) == ([0], [2])
    assert narrow.score(Bags([[1, 1, 0]]), np.array([0])).tolist() == [2]
    with pytest.raises(OptionError, match="narrowed after it was fitted"):
        attacks.base.Narrowed(attacks.Overlap().fit(bags), np.array([2, 1])).fit(bags)


def test_a_second_observer_on_the_attackers_side_helps():
    api = topics.TopicsAPI(349)
    sets = api.top_sets(personas.distinct(400, seed=3), epochs=6, seed=0)
    a, b, c, d = (api.expose(sets, seed=0, site=site) for site in "abcd")
    weighted = attacks.WeightedHamming(5, 0.05)
    alone, more, most = (measure.random_user(weighted, *sides) for sides in ((a, b), ([a, c], b), ([a, c], [b, d])))
    assert measure.difference(more, alone).low > 0
    assert measure.difference(most, more).low > 0
    # The loose attack gains when both sides pool. When one side does, it keeps more tokens than the other side saw.
    loose = attacks.LooseSets(2)
    alone, most = (measure.random_user(loose, *sides) for sides in ((a, b), ([a, c], [b, d])))
    assert measure.difference(most, alone).low > 0


def test_pooled_sums_are_no_likelihood_so_no_probability():
    a, b = Traces([[1, 2], [3, 4]], 9), Traces([[1, 5], [3, 4]], 9)
    attack = attacks.WeightedHamming(2, 0.1)
    assert attack.fit([a, b]).link(a, probability=True).probability is None
    assert attack.fit(a).link(b, probability=True).probability is not None


def test_what_cannot_be_pooled_is_one_clear_line():
    a = Traces([[1, 2]], 9, users=["x"])
    for observers, message in [
        ([], "no observer to pool"),
        ([a, Traces([[1, 2]], 8, users=["x"])], "observer 0 has 9 tokens in the vocabulary, observer 1 has 8"),
        ([a, Traces([[1]], 9, users=["x"])], "observer 0 has 2 epochs, observer 1 has 1"),
        ([a, Traces([[1, 2]], 9)], "observer 1 names no users"),
        ([a, Traces([[1, 2]], 9, users=[7])], "user ids of two kinds"),
        ([Traces([[1]], 9), Traces([[1], [2]], 9)], r"saw \[1, 2\] of them; name the users"),
        ([a, "b"], "observer 1 is a str"),
    ]:
        with pytest.raises(DataError, match=message):
            attacks.pool(observers)
    with pytest.raises(DataError, match="FullInformation compares traces, not Pooled"):
        attacks.FullInformation(TopSets([[[1, 2], [3, 4]]], 9, users=["x"])).fit(attacks.pool([a, a]))
