"""Private statistics: counts, sensitivities, noise, consistency, files."""

import itertools
import json
import math
import shutil

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reidrisk import ReidRiskError, TopSets, Vocabulary, populations, release
from reidrisk.privacy import gaussian_delta, gaussian_sigma, zcdp_delta, zcdp_rho
from reidrisk.release.counts.consistency import _nonnegative
from reidrisk.release.counts.mechanism import add_noise, plan_noise
from reidrisk.release.counts.pairs import PairCounts, count_pairs, measured_blocks

EPSILON, DELTA = math.log(3), 1e-15


def random_sets(seed, n=None, epochs=None, k=None, n_tokens=None):
    rng = np.random.default_rng(seed)
    n = n or int(rng.integers(1, 30))
    epochs = epochs or int(rng.integers(2, 5))
    n_tokens = n_tokens or int(rng.integers(1, 8))
    k = k or int(rng.integers(1, n_tokens + 1))
    order = np.argsort(rng.random((n, epochs, n_tokens)) * np.linspace(0.3, 1, n_tokens), axis=2)
    return TopSets(order[:, :, :k], n_tokens)


def pairs_twin(first, second, n_tokens):
    """Count as :func:`count_across` does, by a product of 0/1 matrices."""
    has = [np.zeros((len(sets), n_tokens), dtype=np.int64) for sets in (first, second)]
    for mask, sets in zip(has, (first, second), strict=True):
        np.put_along_axis(mask, sets.astype(np.int64), 1, axis=1)
    return has[0].T @ has[1]


def joint_sensitivity(k, within=1.0, across=1.0, averages=False):
    """Return the l2 sensitivity of all tables together, each times its weight."""
    tables = 1 if averages else 2
    return math.sqrt(tables * within**2 * math.comb(k, 2) + across**2 * k**2)


@settings(deadline=None, max_examples=60)
@given(seed=st.integers(0, 2**32 - 1))
def test_counts_are_those_of_the_twin(seed):
    sets = random_sets(seed)
    counts = count_pairs(sets, threads=1 + seed % 3)
    t, n = sets.tokens, sets.n_tokens
    off = ~np.eye(n, dtype=bool)
    within = [pairs_twin(t[:, e], t[:, e], n) * off for e in range(sets.n_epochs)]
    across = [pairs_twin(t[:, e], t[:, e + 1], n) for e in range(sets.n_epochs - 1)]
    expected = {"f11": within[0], "f22": within[1], "f12": across[0]}
    if sets.n_epochs > 2:
        expected = {"within": sum(within), "across": sum(across)}
    for name, table in counts.tables.items():
        assert np.array_equal(table, expected[name])


def test_counts_do_not_depend_on_threads_or_chunks(monkeypatch):
    import reidrisk.release.counts.pairs as module

    sets = random_sets(3, n=1000, epochs=2, k=3, n_tokens=7)
    whole = count_pairs(sets, threads=1)
    monkeypatch.setattr(module, "_CHUNK", 64)
    parts = count_pairs(sets, threads=3)
    assert all(np.array_equal(whole.tables[name], parts.tables[name]) for name in whole.tables)


@pytest.mark.parametrize("epochs", [2, 3])
@pytest.mark.parametrize(("n_tokens", "k"), [(3, 2), (4, 3), (3, 1)])
def test_sensitivity_is_the_most_any_user_adds(epochs, n_tokens, k):
    """Every user there can be is added to a data set; the largest change is as stated, in each table and in all."""
    possible = [list(s) for s in itertools.combinations(range(n_tokens), k)]
    base = [possible[0]] * epochs
    alone = count_pairs(TopSets([base], n_tokens))
    changes = {}
    for user in itertools.product(possible, repeat=epochs):
        both = count_pairs(TopSets([base, list(user)], n_tokens))
        for name in both.tables:
            change = np.linalg.norm(both.flat(name) - alone.flat(name))
            changes.setdefault(name, []).append(change)
    blocks = measured_blocks(k, n_tokens, epochs)
    assert {b.name for b in blocks} == set(changes)
    for block in blocks:
        assert max(changes[block.name]) == pytest.approx(block.sensitivity)
    weights = {"f11": 0.7, "f22": 0.7, "f12": 1.3, "within": 0.7 / epochs, "across": 1.3 / (epochs - 1)}
    together = [
        math.sqrt(sum((weights[b.name] * changes[b.name][i]) ** 2 for b in blocks))
        for i in range(len(changes[blocks[-1].name]))
    ]
    assert max(together) == pytest.approx(joint_sensitivity(k, 0.7, 1.3, averages=epochs > 2))


def test_the_published_noise():
    topics = measured_blocks(5, 469, 2)
    split = plan_noise(topics, EPSILON, DELTA, "split", discrete=False).sigma
    assert [round(s, 1) for s in split] == [85.8, 85.8, 68.0]
    assert gaussian_sigma(EPSILON, DELTA, joint_sensitivity(5)) == pytest.approx(45.8, abs=0.05)


@pytest.mark.parametrize("sigma", [0.3, 4.9, 5.1, 1e3, 1e8, 1e15])
@pytest.mark.parametrize("shift", [1e-9, 1e-3, 0.1, 1.0, 5.0, 30.0])
def test_delta_is_right_where_its_two_terms_are_nearly_the_same(sigma, shift):
    mp = pytest.importorskip("mpmath")
    epsilon = shift / sigma
    with mp.workdps(80):
        s, e = mp.mpf(sigma), mp.mpf(epsilon)
        first, second = (mp.erfc((e * s + sign / (2 * s)) / mp.sqrt(2)) / 2 for sign in (-1, 1))
        exact = float(first - mp.exp(e) * second)
    assert gaussian_delta(sigma, epsilon) == pytest.approx(exact, rel=1e-11, abs=0.0)


@pytest.mark.parametrize("epsilon", [1e-9, 1.0, 1e9])
@pytest.mark.parametrize("delta", [1e-250, 1e-15, 0.9])
def test_the_least_and_the_largest_budgets_have_noise(epsilon, delta):
    sigma, rho = gaussian_sigma(epsilon, delta), zcdp_rho(epsilon, delta)
    assert 0.99 * delta < gaussian_delta(sigma, epsilon) <= delta
    assert 0.99 * delta < zcdp_delta(rho, epsilon) <= delta
    assert sigma <= 1.0 / math.sqrt(2.0 * rho)  # zCDP never asks for less


@pytest.mark.parametrize(
    ("epsilon", "delta", "told"),
    [
        (1e308, 1e-9, "epsilon must be a number from 1e-09 to 1e\\+09, not 1e\\+308"),
        (1e200, 1e-9, "epsilon must be .* not 1e\\+200"),
        (1e-300, 1e-300, "epsilon must be .* not 1e-300"),
        (1e-20, 1e-6, "epsilon must be .* not 1e-20"),
        (1.0, 1e-300, "delta must be at least 1e-250"),
    ],
)
def test_budgets_out_of_reach_are_refused(epsilon, delta, told):
    for needs in (gaussian_sigma, zcdp_rho):
        with pytest.raises(ReidRiskError, match=told):
            needs(epsilon, delta)


def test_joint_weights_are_the_best_ones():
    topics = measured_blocks(5, 469, 2)
    plan = plan_noise(topics, EPSILON, DELTA, discrete=False)
    error = sum(b.error * s**2 for b, s in zip(topics, plan.sigma, strict=True))
    one = gaussian_sigma(EPSILON, DELTA)
    for weight in np.linspace(0.3, 3.0, 60):
        sigma = one * joint_sensitivity(5, weight, 1.0)
        other = (topics[0].error + topics[1].error) * (sigma / weight) ** 2 + topics[2].error * sigma**2
        assert error <= other * (1 + 1e-9)
    spent = sum((b.sensitivity / s) ** 2 for b, s in zip(topics, plan.sigma, strict=True))
    assert spent == pytest.approx(1 / one**2)


@pytest.mark.parametrize(("epsilon", "delta"), [(EPSILON, DELTA), (0.1, 1e-6), (8.0, 1e-3), (0.3, 1e-12)])
def test_continuous_noise_agrees_with_dp_accounting(epsilon, delta):
    mechanism = pytest.importorskip("dp_accounting.pld.privacy_loss_mechanism")
    for sensitivity in (1.0, math.sqrt(10), 5.0):
        sigma = gaussian_sigma(epsilon, delta, sensitivity)
        theirs = mechanism.GaussianPrivacyLoss(sigma, sensitivity=sensitivity).get_delta_for_epsilon(epsilon)
        assert theirs == pytest.approx(delta, rel=1e-5)
        assert theirs <= delta * (1 + 1e-6)
        assert gaussian_delta(sigma, epsilon, sensitivity) == pytest.approx(theirs, rel=1e-5)
        assert gaussian_delta(sigma * 0.999, epsilon, sensitivity) > delta


@pytest.mark.parametrize(("epsilon", "delta"), [(EPSILON, DELTA), (0.5, 1e-6), (5.0, 1e-4)])
def test_discrete_noise_agrees_with_two_accountants(epsilon, delta):
    accounting = pytest.importorskip("dp_accounting")
    dp = pytest.importorskip("opendp.prelude")
    from dp_accounting.rdp import RdpAccountant

    rho = zcdp_rho(epsilon, delta)
    sigma = 1 / math.sqrt(2 * rho)
    assert gaussian_sigma(epsilon, delta) < sigma < 1.1 * gaussian_sigma(epsilon, delta)
    assert zcdp_delta(rho, epsilon) == pytest.approx(delta, rel=1e-6)
    best = (epsilon + rho) / (2 * rho)
    ours = RdpAccountant(orders=list(np.linspace(max(1.01, best * 0.5), best * 1.5, 2000)))
    ours.compose(accounting.GaussianDpEvent(sigma))
    assert ours.get_epsilon(delta) == pytest.approx(epsilon, rel=0.02)
    dp.enable_features("contrib")
    noise = dp.m.make_gaussian(dp.vector_domain(dp.atom_domain(T="i64")), dp.l2_distance(T="f64"), scale=sigma)
    assert noise.map(1.0) == pytest.approx(rho)
    assert dp.c.make_zCDP_to_approxDP(noise).map(1.0).delta(epsilon) == pytest.approx(delta, rel=1e-5)


@pytest.mark.parametrize("budget", ["joint", "split"])
def test_noise_has_the_planned_size(budget):
    exact = PairCounts(
        {name: np.zeros((60, 60), dtype=np.int64) for name in ("f11", "f22", "f12")}, k=5, n_tokens=60, n_epochs=2
    )
    blocks = measured_blocks(5, 60, 2)
    for discrete in (True, False):
        plan = plan_noise(blocks, 1.0, 1e-6, budget, discrete)
        noisy = add_noise(exact, plan, None if discrete else 0)
        for block, sigma in zip(blocks, plan.sigma, strict=True):
            values = noisy.flat(block.name)
            assert values.std() == pytest.approx(sigma, rel=0.12)
            assert (values.dtype == np.int64) == discrete
            if block.name in ("f11", "f22", "within"):
                assert np.array_equal(noisy.tables[block.name], noisy.tables[block.name].T)


def test_real_noise_is_never_the_same_twice_and_simulated_noise_always():
    sets = random_sets(1, n=2000, epochs=2, k=2, n_tokens=5)
    real = [release.statistics(sets, 1.0, 1e-6).across for _ in range(2)]
    assert not np.array_equal(*real)
    tried = [release.statistics(sets, 1.0, 1e-6, simulation=True, seed=4) for _ in range(2)]
    assert np.array_equal(*(one.across for one in tried))
    assert tried[0].statement.simulation
    assert "seed 4" in tried[0].statement.mechanism


@pytest.mark.parametrize("epochs", [2, 4])
@pytest.mark.parametrize("simulation", [False, True])
@pytest.mark.parametrize("k", [1, 3])
def test_without_noise_the_exact_statistics_come_back(epochs, simulation, k):
    sets = random_sets(5, n=3000, epochs=epochs, k=k, n_tokens=7)
    exact = release.exact_statistics(sets)
    got = release.statistics(sets, 1e9, 1e-3, simulation=simulation)
    for name in ("single", "within", "across"):
        assert getattr(got, name) == pytest.approx(getattr(exact, name), abs=1e-6)
    t = sets.tokens
    has = (t[..., None] == np.arange(7)).any(axis=2)
    assert exact.single == pytest.approx(has.mean(axis=(0, 1)) if epochs == 2 or k > 1 else exact.single)
    assert exact.across[1, 2] == pytest.approx((has[:, :-1, 1] & has[:, 1:, 2]).mean())
    assert exact.within[1, 2] == pytest.approx((has[..., 1] & has[..., 2]).mean())


def test_post_processing_is_consistent_and_nearer_to_the_truth():
    sets = populations.published(20_000, epochs=2)
    exact = release.exact_statistics(sets)
    stats = release.statistics(sets, 2.0, 1e-6, simulation=True, seed=0)
    assert stats.within.min() >= 0
    assert stats.across.min() >= 0
    assert np.array_equal(stats.within, stats.within.T)
    assert not stats.within.diagonal().any()
    assert stats.single.sum() == pytest.approx(5)
    assert stats.across.sum(axis=0) + stats.across.sum(axis=1) == pytest.approx(10 * stats.single, abs=3e-4)
    assert stats.n_users == pytest.approx(20_000, rel=0.05)
    raw = stats.counts.tables["f12"] / (stats.counts.tables["f12"].sum() / 25)
    assert np.linalg.norm(stats.across - exact.across) < 0.7 * np.linalg.norm(raw - exact.across)


def test_the_number_of_users_is_estimated_without_bias():
    """Clipping counts before adding them up would give far too many."""
    sets = random_sets(8, n=5_000, epochs=2, k=3, n_tokens=80)
    found = [release.statistics(sets, 1.0, 1e-6, simulation=True, seed=s).n_users for s in range(8)]
    assert np.mean(found) == pytest.approx(5_000, abs=200)  # four standard deviations; clipping would add thousands


def test_nearest_tables_solve_the_least_squares_problem():
    """Against an independent solver on a small table: the projection with the same sums and signs."""
    from scipy.optimize import minimize

    from reidrisk.release.counts.consistency import _nearest

    rng = np.random.default_rng(0)
    table = rng.normal(size=(4, 4)) * 3 + 1
    rows, columns = np.array([3.0, 5.0, 1.0, 2.0]), np.array([4.0, 4.0, 2.0, 1.0])
    ours = _nearest(table, rows, columns, 1e-10)
    sums = [
        {"type": "eq", "fun": lambda x: x.reshape(4, 4).sum(1) - rows},
        {"type": "eq", "fun": lambda x: (x.reshape(4, 4).sum(0) - columns)[:3]},
    ]
    theirs = minimize(
        lambda x: ((x - table.ravel()) ** 2).sum(), np.ones(16), bounds=[(0, None)] * 16, constraints=sums, tol=1e-12
    )
    assert ours.ravel() == pytest.approx(theirs.x, abs=1e-4)


def test_padding_happens_once_and_before_counting():
    sets = TopSets([[[0, -1], [1, -1]]] * 4000, n_tokens=3)
    stats = release.statistics(sets, 1e9, 1e-3)
    assert stats.single.sum() == pytest.approx(2)
    assert stats.within[0, 1] == pytest.approx(0.5, abs=0.05)
    with pytest.raises(ReidRiskError, match="pad"):
        release.exact_statistics(sets)


def test_nothing_public_holds_the_exact_number_of_users(tmp_path):
    sets = TopSets(np.tile([[0, 1], [0, 2]], (12_347, 1, 1)), n_tokens=3)
    stats = [release.statistics(sets, 0.01, 1e-9) for _ in range(4)]
    assert len({s.n_users for s in stats}) == 4
    release.write_statistics(stats[0], tmp_path)
    written = json.loads((tmp_path / "statement.json").read_text())
    assert written["estimated_users"] == stats[0].n_users != 12_347
    assert not any(value == 12_347 for value in written.values())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"epsilon": 0.0}, "epsilon"),
        ({"epsilon": -1.0}, "epsilon"),
        ({"epsilon": math.inf}, "epsilon"),
        ({"epsilon": math.nan}, "epsilon"),
        ({"epsilon": "1"}, "epsilon"),
        ({"delta": 0.0}, "delta"),
        ({"delta": 1.0}, "delta"),
        ({"seed": 3}, "seed"),
        ({"budget": "half"}, "budget"),
    ],
)
def test_bad_options_are_refused_in_one_line(arguments, said):
    sets = random_sets(0, n=5, epochs=2, k=2, n_tokens=4)
    with pytest.raises(ReidRiskError, match=said) as error:
        release.statistics(sets, **{"epsilon": 1.0, "delta": 1e-6} | arguments)
    assert "\n" not in str(error.value)


def test_bad_data_is_refused():
    with pytest.raises(ReidRiskError, match="2 epochs"):
        release.statistics(TopSets([[[0, 1]]], n_tokens=3), 1.0, 1e-6)
    with pytest.raises(ReidRiskError, match="twice"):
        TopSets([[[1, 1], [0, 1]]], n_tokens=3)
    with pytest.raises(ReidRiskError, match="one row"):
        TopSets([[[1, 0], [0, 1]]] * 2, n_tokens=3, users=["a", "a"])
    with pytest.raises(ReidRiskError, match="empty"):
        TopSets(np.empty((0, 2, 2), dtype=np.int64), n_tokens=3)
    with pytest.raises(ReidRiskError, match="too many pairs"):
        release.statistics(TopSets([[[0], [1]]], n_tokens=100_000), 1.0, 1e-6)
    with pytest.raises(ReidRiskError, match="TopSets"):
        release.statistics([[0, 1]], 1.0, 1e-6)


def some_statistics(simulation=False):
    sets = random_sets(2, n=3000, epochs=2, k=3, n_tokens=40)
    words = Vocabulary([f"/Topic & {i}" for i in range(40)])
    return release.statistics(TopSets(sets.tokens, 40, vocabulary=words), 3.0, 1e-6, simulation=simulation)


def test_a_folder_gives_the_statistics_back(tmp_path):
    stats = some_statistics()
    release.write_statistics(stats, tmp_path / "stats")
    back = release.read_statistics(tmp_path / "stats")
    for name in ("within", "across"):
        assert np.array_equal(getattr(back, name), getattr(stats, name))
    assert back.single == pytest.approx(stats.single)
    assert back.statement == stats.statement
    assert back.vocabulary == stats.vocabulary
    assert back.n_users == stats.n_users
    assert all(np.array_equal(back.counts.tables[n], t) for n, t in stats.counts.tables.items())
    with pytest.raises(ReidRiskError, match="private"):
        release.write_statistics(release.exact_statistics(populations.published(10, 2)), tmp_path / "no")


def test_a_folder_without_a_statement_is_refused(tmp_path):
    sets = random_sets(1, n=500, epochs=2, k=2, n_tokens=4)
    release.write_statistics(release.statistics(sets, 1.0, 1e-6), tmp_path)
    document = json.loads((tmp_path / "statement.json").read_text())
    (tmp_path / "statement.json").write_text(json.dumps({"k": 2}))
    with pytest.raises(ReidRiskError, match="statement"):
        release.read_statistics(tmp_path)
    (tmp_path / "statement.json").unlink()
    with pytest.raises(ReidRiskError, match="statement"):
        release.read_statistics(tmp_path)
    assert document["privacy"]["epsilon"] == 1.0


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("damaged")
    release.write_statistics(some_statistics(), folder)
    return folder


@pytest.mark.parametrize(
    ("where", "value"),
    [
        (("k",), 0),
        (("k",), True),
        (("k",), 41),
        (("n_epochs",), 1),
        (("estimated_users",), "many"),
        (("privacy", "epsilon"), -1),
        (("privacy", "epsilon"), "1"),
        (("privacy", "delta"), 7),
        (("privacy", "simulation"), "no"),
        (("privacy", "mechanism"), None),
        (("privacy", "sigma"), {"f12": 0}),
        (("privacy", "sigma"), [1]),
        (("privacy", "post_processing"), "none"),
    ],
)
def test_a_statement_with_impossible_values_is_refused(folder, tmp_path, where, value):
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    document = json.loads((tmp_path / "statement.json").read_text())
    inner = document if len(where) == 1 else document[where[0]]
    inner[where[-1]] = value
    (tmp_path / "statement.json").write_text(json.dumps(document))
    with pytest.raises(ReidRiskError) as error:
        release.read_statistics(tmp_path)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("damage", ["truncated", "empty", "text", "one array", "other shape"])
def test_damaged_counts_are_refused_in_one_line(folder, tmp_path, damage):
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    file = tmp_path / "counts.npz"
    if damage in ("truncated", "empty", "text"):
        file.write_bytes({"truncated": file.read_bytes()[:-900], "empty": b"", "text": b"counts"}[damage])
    else:
        with open(file, "wb") as stream:
            np.save(stream, np.zeros(3)) if damage == "one array" else np.savez(stream, f12=np.zeros((2, 2)))
    with pytest.raises(ReidRiskError, match="write the folder again") as error:
        release.read_statistics(tmp_path)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("value", [-0.1, 1.5, math.nan, math.inf])
@pytest.mark.parametrize("name", ["q_within.json", "q_across.json"])
def test_frequencies_are_shares(folder, tmp_path, name, value):
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    records = json.loads((tmp_path / name).read_text())
    records[7]["frequency"] = value
    (tmp_path / name).write_text(json.dumps(records))
    with pytest.raises(ReidRiskError, match="record 7"):
        release.read_statistics(tmp_path)


def test_what_everybody_has_is_a_share_as_well(tmp_path):
    """Noise lifts some of these frequencies above 1, and what is written must be read."""
    sets = TopSets(np.tile([[0, 1], [0, 1]], (400, 1, 1)), n_tokens=3)
    for seed in range(5):
        stats = release.statistics(sets, 1.0, 1e-6, simulation=True, seed=seed)
        release.write_statistics(stats, tmp_path)
        back = release.read_statistics(tmp_path)
        assert max(stats.single.max(), stats.within.max(), stats.across.max()) <= 1.0
        assert back.single == pytest.approx(stats.single)


def test_pairs_in_either_order_are_the_same_pair(tmp_path):
    """A reader that keeps the order of each record loses those written the other way."""
    within = [
        {"topic_1_id": 7, "topic_2_id": 3, "frequency": 0.4},
        {"topic_1_id": 3, "topic_2_id": 9, "frequency": 0.6},
    ]
    across = [{"week_1_topic_id": a, "week_2_topic_id": b, "frequency": 0.1} for a in (3, 7, 9) for b in (3, 7, 9)]
    (tmp_path / "w.json").write_text(json.dumps(within))
    (tmp_path / "a.json").write_text(json.dumps(across))
    stats = release.read_published(tmp_path / "w.json", tmp_path / "a.json", k=2)
    assert stats.within[0].tolist() == [0.0, 0.4, 0.6]
    assert stats.single.tolist() == [1.0, 0.4, 0.6]
    assert stats.statement.epsilon == pytest.approx(math.log(3))
    (tmp_path / "w.json").write_text(json.dumps([*within, {"topic_1_id": 3, "topic_2_id": 7, "frequency": 0.5}]))
    with pytest.raises(ReidRiskError, match="again"):
        release.read_published(tmp_path / "w.json", tmp_path / "a.json", k=2)
    for damaged in ({"topic_1_id": 3, "frequency": 0.5}, {"topic_1_id": 3, "topic_2_id": math.inf, "frequency": 0.5}):
        (tmp_path / "w.json").write_text(json.dumps([damaged]))
        with pytest.raises(ReidRiskError, match="record 0"):
            release.read_published(tmp_path / "w.json", tmp_path / "a.json", k=2)
    (tmp_path / "w.json").write_text("[{")
    with pytest.raises(ReidRiskError, match="JSON"):
        release.read_published(tmp_path / "w.json", tmp_path / "a.json", k=2)


@pytest.mark.parametrize(("values", "total"), [([2.0, 1.0], 0.0), ([3.0, -1.0], -2.0), ([1e300, -1e300], 5.0)])
def test_counts_without_a_total_to_keep_become_nothing(values, total):
    assert not _nonnegative(np.array(values), total).any()
    assert _nonnegative(np.array([4.0, 1.0, -3.0]), 3.0).tolist() == [3.0, 0.0, 0.0]
