import numpy as np

from reidrisk import Traces, measure


def queries(n=100):
    tokens = np.zeros((n, 2), dtype=np.int64)
    tokens[:5, 0] = np.arange(1, 6)  # five people hold a token of their own
    tokens[50:, 1] = -1
    return Traces(tokens, n_tokens=2_000)


def test_shares_and_histogram_count_people():
    risk = np.r_[np.ones(5), np.full(5, 0.05), np.zeros(90)]
    found = measure.exposure(risk, queries())
    assert found.above == {"1": 0.10, "10": 0.05, "50": 0.05, "90": 0.05}
    assert sum(share for _, _, share in found.histogram) == 1.0
    assert measure.Exposure.from_json(found.to_json()) == found


def test_groups_are_about_traits_and_small_ones_are_hidden():
    risk = np.r_[np.ones(5), np.zeros(95)]
    found = measure.exposure(risk, queries(), min_group=20)
    assert {group.level for group in found.groups} >= {"seen in 1 of 2 epochs", "seen in 2 of 2 epochs"}
    assert all(group.n >= 20 for group in found.groups)
    assert found.hidden_groups == 1
    shown = measure.exposure(risk, queries(), min_group=5)
    rare = [group for group in shown.groups if group.n == 5]
    assert rare[0].rate == 1.0
    assert "rarest token" in rare[0].level


def test_choosiness_trades_wrong_links_for_silence():
    rng = np.random.default_rng(0)
    sure = rng.random(5_000)
    right = (rng.random(5_000) < sure).astype(float)  # a calibrated attacker
    curve = measure.choosiness(sure, right)
    assert curve[0].answered == 1.0
    assert curve[0].correct == right.mean()
    wrong = [point.incorrect for point in curve]
    assert wrong == sorted(wrong, reverse=True)
    assert measure.choosiness(sure, None)[0].correct is None
