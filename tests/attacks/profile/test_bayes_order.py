"""ProfileBayes draws by seed and content: shuffled tables give every record the same probability, to the last bit."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from reidrisk import Bags, Traces
from reidrisk.attacks import ProfileBayes
from reidrisk.attacks.profile import learnt as bayes_learnt
from reidrisk.attacks.profile.counts import by_content, count, ladder_of


def traces(n, seed, epochs=6, gaps=0.15, n_tokens=25):
    """Return two tables of the same people, who draw from a few interests each; some epochs are missing."""
    rng = np.random.default_rng(seed)
    rates = rng.dirichlet(np.full(n_tokens, 0.12), n)
    tables = []
    for _ in range(2):
        tokens = np.stack([rng.choice(n_tokens, epochs, p=row) for row in rates])
        tables.append(Traces(np.where(rng.random(tokens.shape) < gaps, -1, tokens), n_tokens))
    return tables


def bags(n, seed, n_tokens=25):
    rng = np.random.default_rng(seed)
    rates = rng.gamma(0.2, 3.0, (n, n_tokens))
    return [Bags(rng.poisson(rates)) for _ in range(2)]


def sets(n, seed, n_tokens=25):
    """Return two parts of each person's set, which share some items or, of an even seed, none; many hold the same."""
    rng = np.random.default_rng(seed)
    held = rng.permuted(np.tile(np.arange(n_tokens) < 6, (n, 1)), axis=1)
    part = rng.random(held.shape) < 0.5
    both = rng.random(held.shape) < (0.3 if seed % 2 else 0.0)
    return [Bags((held & (side | both)).astype(int)) for side in (part, ~part)]


def renamed(bags, names):
    return Bags(bags.counts.toarray()[:, names])


def shuffled(records, order):
    return records.take(order) if isinstance(records, Traces) else Bags(records.counts[order])


@given(
    st.sampled_from(["traces", "topics", "bags"]),
    st.integers(2, 60),
    st.integers(0, 2**16),
    st.randoms(use_true_random=False),
)
@settings(deadline=None, max_examples=25)
def test_shuffled_tables_give_the_same_probabilities(kind, n, seed, random):
    targets, queries = bags(n, seed) if kind == "bags" else traces(n, seed)
    system = (3, 0.1) if kind == "topics" else (None, 0.0)
    places, asked = (np.array(random.sample(range(n), n)) for _ in range(2))
    links = ProfileBayes(*system, seed=seed).fit(targets).link(queries, probability=True)
    attack = ProfileBayes(*system, seed=seed).fit(shuffled(targets, places))
    again = attack.link(shuffled(queries, asked), probability=True)
    assert np.array_equal(again.probability, links.probability[asked])
    assert np.array_equal(again.score, links.score[asked])
    assert np.array_equal(again.n_ties, links.n_ties[asked])
    alone = again.n_ties == 1  # which of several equally good targets comes first is a matter of rows
    assert np.array_equal(places[again.target[alone]], links.target[asked][alone])


@given(st.sampled_from([bags, sets]), st.integers(2, 90), st.integers(0, 2**16), st.randoms(use_true_random=False))
@settings(deadline=None, max_examples=25)
def test_items_of_other_names_give_the_same_probabilities(made, n, seed, random):
    targets, queries = made(n, seed)
    if not targets.counts.nnz:
        return
    places, names = np.array(random.sample(range(n), n)), np.array(random.sample(range(25), 25))
    links = ProfileBayes(seed=seed).fit(targets).link(queries, probability=True)
    attack = ProfileBayes(seed=seed).fit(renamed(targets, names).take(places))
    again = attack.link(renamed(queries, names), probability=True)
    np.testing.assert_allclose(again.probability, links.probability, atol=1e-4)
    alone = (again.n_ties == 1) & (links.n_ties == 1)
    assert np.array_equal(places[again.target[alone]], links.target[alone])


def test_items_of_other_names_are_as_often_found_where_nothing_is_shared():
    """Tastes alone are compared: which items to begin with must not depend on their names."""
    rng = np.random.default_rng(0)
    group = np.arange(120) % 10
    likes = np.where(group == rng.integers(10, size=(400, 2))[:, :1], 12.0, 1.0)
    held = np.argsort(rng.exponential(size=likes.shape) / likes, axis=1)[:, :12]
    one, two = (Bags(np.stack([np.bincount(row, minlength=120) for row in part])) for part in np.split(held, 2, axis=1))
    names, rows = rng.permutation(120), rng.permutation(400)
    links = ProfileBayes().fit(one).link(two, probability=True)
    again = ProfileBayes().fit(renamed(one, names).take(rows)).link(renamed(two, names), probability=True)
    assert np.array_equal(rows[again.target], links.target)
    np.testing.assert_allclose(again.probability, links.probability, atol=1e-6)


def test_shuffled_targets_are_learnt_from_alike_where_only_some_are(monkeypatch):
    monkeypatch.setattr(bayes_learnt, "_LEARN_FROM", 40)
    targets, queries = traces(120, 3)
    order = np.random.default_rng(0).permutation(120)
    links = ProfileBayes(seed=1).fit(targets).link(queries, probability=True)
    again = ProfileBayes(seed=1).fit(targets.take(order)).link(queries, probability=True)
    assert np.array_equal(again.probability, links.probability)
    other = ProfileBayes(seed=2).fit(targets).link(queries, probability=True)
    assert not np.array_equal(other.score, links.score)  # other targets were learnt from


def test_another_seed_draws_other_users():
    targets, queries = traces(80, 5)
    found = {seed: ProfileBayes(seed=seed).fit(targets) for seed in range(6)}
    said = {seed: attack.link(queries, probability=True).probability for seed, attack in found.items()}
    assert len({attack.temperature_ for attack in found.values()}) > 1
    assert np.array_equal(ProfileBayes(seed=4).fit(targets).link(queries, probability=True).probability, said[4])


def test_the_order_is_one_of_content():
    records = traces(200, 7)[0]
    order = np.random.default_rng(1).permutation(200)
    mixed = shuffled(records, order)
    one, two = by_content(count(records, ladder_of(records))), by_content(count(mixed, ladder_of(mixed)))
    assert sorted(one.tolist()) == list(range(200))
    assert records.tokens[one].tolist() == mixed.tokens[two].tolist() == sorted(records.tokens.tolist())
