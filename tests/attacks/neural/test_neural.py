"""The neural attack learns from other people, refuses those, and answers the same after a rest on disk."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from reidrisk import Bags, Traces, Vocabulary, attacks, measure  # noqa: E402
from reidrisk.base.errors import DataError, FormatError, OptionError  # noqa: E402
from reidrisk.sequence import Schedule, Sizes  # noqa: E402
from reidrisk.sequence.pairs import PairSchedule, PairSizes  # noqa: E402

TINY = Sizes(width=8, heads=1, mlp=16, encoder_layers=1, decoder_layers=1)
PAIRS = PairSizes(tower=16, width=8, hidden=8, items=8)
QUICK = PairSchedule(steps=60, look_every=20, batch=64, learning_rate=1e-2)
N = 30


def people(n, seed, first=0):
    """Two observers of people with three interests, of which each sees one in an epoch."""
    rng = np.random.default_rng(seed)
    interests = rng.integers(N, size=(n, 3))
    seen = [interests[np.arange(n)[:, None], rng.integers(3, size=(n, 4))] for _ in range(2)]
    return [Traces(tokens, N, users=np.arange(first, first + n)) for tokens in seen]


def made(**options):
    given = {"pair_schedule": QUICK} | options
    return attacks.Neural(TINY, PAIRS, schedule=Schedule(passes=1, batch=64), device="cpu", **given)


@pytest.fixture(scope="module")
def trained():
    return made().train(*people(400, seed=0))


@pytest.fixture(scope="module")
def others():
    return people(150, seed=1, first=1_000)


def test_it_finds_people_it_never_saw(trained, others):
    risk = measure.random_user(trained, *others)
    assert risk.low > 10 * risk.baseline
    assert trained.model_.curve[-1] > 0.05


def test_candidates_scores_and_links_agree(trained, others):
    attack = trained.fit(others[0])
    queries = others[1].take(slice(0, 20))
    links, (rows, scores) = attack.link(queries), attack.candidates(queries, 5)
    assert np.array_equal(links.target, rows[:, 0])
    assert np.array_equal(links.score, scores[:, 0])
    assert np.array_equal(attack.score(queries, rows[:, 2]), scores[:, 2])
    assert links.probability is None
    narrow = attack.narrowed(np.array([3, 7, 9]))
    assert set(narrow.link(queries).target) <= {0, 1, 2}


def test_equal_records_tie(trained, others):
    twice = Traces(np.concatenate([others[0].tokens[:20]] * 2), N)
    links = trained.fit(twice).link(others[1].take(slice(0, 20)))
    assert bool((links.n_ties % 2 == 0).all())


def test_a_search_of_what_is_distinct_counts_every_tie(trained):
    rng = np.random.default_rng(7)
    tokens = rng.integers(3, size=(300, 4))  # of 81 different records
    attack, queries = trained.fit(Traces(tokens, N)), Traces(rng.integers(3, size=(40, 4)), N)
    posed = attack._posed(queries)
    plain = posed.scorer.best(posed.targets, posed.queries)
    quick = posed.scorer.best_distinct(posed.targets, posed.queries, in_blocks=False)
    assert plain.n_ties.max() > 1
    for a, b in zip(plain, quick, strict=True):
        assert np.array_equal(a, b)


def test_blocks_found_in_low_precision_lead_to_the_same_answers(trained, monkeypatch):
    """The kernel runs on a GPU alone; here its answer is made from the scores, and rounded as roughly."""
    from reidrisk.attacks.neural import scorer
    from reidrisk.sequence.pairs import fused

    def blocks(network, targets, queries):
        logits = network.float().logits(queries, targets).detach()
        filled = torch.nn.functional.pad(logits, (0, -logits.shape[1] % 32), value=-torch.inf)
        return filled.unflatten(1, (-1, 32)).amax(dim=2).T.to(torch.bfloat16).float()

    monkeypatch.setattr(scorer, "_MANY", 10)
    monkeypatch.setattr(fused, "BLOCK", 32)
    monkeypatch.setattr(fused, "block_best", blocks)
    rng = np.random.default_rng(8)
    attack, queries = trained.fit(Traces(rng.integers(5, size=(900, 4)), N)), Traces(rng.integers(5, size=(30, 4)), N)
    posed = attack._posed(queries)
    plain = posed.scorer.best(posed.targets, posed.queries)
    for a, b in zip(plain, posed.scorer.best_distinct(posed.targets, posed.queries, in_blocks=True), strict=True):
        assert np.array_equal(a, b)


def test_same_seed_same_attack(trained, others):
    again = made().train(*people(400, seed=0))
    assert again.model_.curve == trained.model_.curve
    a, b = (one.fit(others[0]).link(others[1]) for one in (again, trained))
    assert np.array_equal(a.score, b.score)


def test_save_and_load_are_equal(trained, others, tmp_path):
    trained.save(tmp_path / "attack.pt")
    again = attacks.Neural.load(tmp_path / "attack.pt", device="cpu")
    a, b = (one.fit(others[0]).link(others[1]) for one in (again, trained))
    assert np.array_equal(a.score, b.score)
    assert np.array_equal(a.target, b.target)
    with pytest.raises(DataError, match="training users"):
        again.fit(people(400, seed=0)[0])
    (tmp_path / "text.pt").write_text("no attack")
    with pytest.raises(FormatError, match="damaged"):
        attacks.Neural.load(tmp_path / "text.pt")


def test_shorter_records_are_linked_by_an_attack_that_learnt_from_such(trained, others, tmp_path):
    from dataclasses import replace

    attack = made(pair_schedule=replace(QUICK, steps=20, shorter=0.5)).train(*people(400, seed=0))
    attack.save(tmp_path / "attack.pt")
    again = attacks.Neural.load(tmp_path / "attack.pt", device="cpu")
    short = [table.epochs(2) for table in others]
    links, by_hand = again.fit(short[0]).link(short[1]), []
    for table in others:
        tokens = table.tokens.copy()
        tokens[:, 2:] = -1
        by_hand.append(Traces(tokens, N, users=table.users))
    assert np.array_equal(links.score, attack.fit(by_hand[0]).link(by_hand[1]).score)
    with pytest.raises(DataError, match="2 epochs, the queries 4"):
        again.link(others[1])
    with pytest.raises(DataError, match="trained on 4 epochs"):
        trained.fit(short[0])


def test_training_users_among_the_targets_are_refused(trained, others):
    one, _ = people(400, seed=0)
    mixed = Traces(np.concatenate([others[0].tokens, one.tokens[:1]]), N, users=[*range(1_000, 1_150), 17])
    with pytest.raises(DataError, match="row 150"):
        trained.fit(mixed)
    with pytest.raises(DataError, match="records of the training users"):
        trained.fit(Traces(one.tokens, N))


def test_re_ranking_everyone_is_enumeration(trained, others, tmp_path):
    trained.save(tmp_path / "attack.pt")
    ranked = attacks.Neural.load(tmp_path / "attack.pt", first=attacks.WeightedHamming(3, 0.01), keep=150, device="cpu")
    a, b = (one.fit(others[0]).link(others[1]) for one in (ranked, trained))
    assert np.array_equal(a.score, b.score)
    assert np.array_equal(a.n_ties, b.n_ties)
    assert ranked.near_best(others[1], np.zeros(150)) is None
    with pytest.raises(OptionError, match="keeps 150"):
        ranked.candidates(others[1], 151)


@pytest.mark.parametrize(
    ("table", "complaint"),
    [
        (Traces([[0, 1, 2, 3]], 9), "over 30 tokens"),
        (Traces([[0, 1]], N), "4 epochs"),
        (Bags(np.eye(N, dtype=int)), "trained on Traces"),
    ],
)
def test_other_records_are_refused(trained, others, table, complaint):
    with pytest.raises(DataError, match=complaint):
        trained.fit(table)
    with pytest.raises(DataError, match=complaint):
        trained.fit(others[0]).link(table)


def test_another_vocabulary_of_the_same_size_is_refused():
    one, two = people(40, seed=2)
    named = [Traces(t.tokens, N, vocabulary=Vocabulary([f"a{i}" for i in range(N)])) for t in (one, two)]
    attack = made(pair_schedule=PairSchedule(steps=2, batch=8)).train(*named)
    other = people(30, seed=3)[0]
    with pytest.raises(DataError, match="other labels"):
        attack.fit(Traces(other.tokens, N, vocabulary=Vocabulary([f"b{i}" for i in range(N)])))


def test_what_cannot_be_learnt_from_is_refused():
    one, two = people(40, seed=2)
    with pytest.raises(OptionError, match="has not learnt"):
        made().fit(one)
    with pytest.raises(DataError, match="users"):
        made().train(one, two.take(slice(0, 30)))
    with pytest.raises(DataError, match="row 0"):
        made().train(one, two.take(np.arange(39, -1, -1)))
    with pytest.raises(DataError, match="not Traces and Bags"):
        made().train(one, two.bags())


def test_a_loss_that_is_no_number_stops(monkeypatch):
    from reidrisk.sequence.pairs import training

    real, steps = training._Run._loss, []

    def broken(self, logits, rng):
        steps.append(1)
        return real(self, logits, rng) * (float("nan") if len(steps) > 25 else 1.0)

    monkeypatch.setattr(training._Run, "_loss", broken)
    attack = made().train(*people(60, seed=4))
    assert [note.code for note in attack.model_.notes] == ["training-not-finite"]
    assert len(attack.model_.curve) == 2  # where it started, and after 20 steps


def tastes(n, seed):
    """Halves of lists that share no item: everyone likes a few items of one of six shelves."""
    rng = np.random.default_rng(seed)
    shelf = rng.integers(6, size=n)
    halves = [np.zeros((n, 120), dtype=int) for _ in range(2)]
    for i in range(n):
        liked = 20 * shelf[i] + rng.permutation(20)[:10]
        halves[0][i, liked[:5]], halves[1][i, liked[5:]] = 1, 1
    return [Bags(half) for half in halves], shelf


def test_bags_that_share_nothing_are_linked_by_taste():
    (one, two), _ = tastes(250, seed=0)
    attack = made(pair_schedule=PairSchedule(steps=60, look_every=30, batch=64, learning_rate=1e-2))
    attack.train(one, two)
    (a, b), shelf = tastes(40, seed=1)
    found = attack.fit(a).link(b).target
    assert np.mean(shelf[found] == shelf) > 0.8


def test_the_order_of_items_and_unseen_ones_do_not_matter(tmp_path):
    (one, two), _ = tastes(60, seed=0)
    attack = made(pair_schedule=PairSchedule(steps=2, batch=16)).train(one, two)
    attack.save(tmp_path / "bags.pt")
    again = attacks.Neural.load(tmp_path / "bags.pt", device="cpu")
    (a, b), _ = tastes(30, seed=5)
    assert np.array_equal(again.fit(a).link(b).score, attack.fit(a).link(b).score)
