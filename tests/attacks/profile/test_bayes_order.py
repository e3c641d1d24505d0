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
