"""The browser keeps the rules of the specification, and agrees in distribution with the fast simulation."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2_contingency, chisquare

from reidrisk import TopSets
from reidrisk.base.errors import DataError, OptionError
from reidrisk.topics import Browser, Taxonomy, TopicsAPI

DAY, WEEK = 86_400, 7 * 86_400
TAXONOMY = Taxonomy(
    {1: "/News", 2: "/News/Weather", 3: "/News/Weather/Storms", 10: "/Sports", 11: "/Sports/Golf", 20: "/Travel",
     **{100 + i: f"/T{i}" for i in range(14)}}
)  # fmt: skip
ADS = "ads.example"
SITES = [f"site{i}.example" for i in range(6000)]


def weeks_of(topics, weeks=4, caller=ADS, **options) -> Browser:
    """A browser that visits topic number i of the list len - i times a week, always seen by one caller."""
    browser = Browser(TAXONOMY, **options)
    for week in range(weeks):
        for i, topic in enumerate(topics):
            for k in range(len(topics) - i):
                browser.visit(week * WEEK + 1000 * i + k + 1, [topic], [caller])
                browser.visit(week * WEEK + 1000 * i + k + 1, [20], [])
    return browser


def after(weeks: float) -> int:
    return int(weeks * WEEK)


def told(browser: Browser, time: int, caller: str = ADS, sites=SITES) -> np.ndarray:
    """Answers of every site (rows) for every epoch (columns) as tokens, -1 for none."""
    rows = [[-1 if topic is None else topic for _, topic in browser.answers(time, site, caller)] for site in sites]
    return TAXONOMY.to_tokens(rows)


def sets_of(browser: Browser, n: int) -> TopSets:
    tokens = TAXONOMY.to_tokens([epoch.topics for epoch in browser.epochs[-3:]])
    return TopSets(np.tile(tokens, (n, 1, 1)), n_tokens=len(TAXONOMY))


@pytest.mark.parametrize("noise_rule", ["original", "observed"])
def test_the_answers_of_many_sites_have_the_distribution_of_the_simulation(noise_rule):
    """With every topic of the set observed, the specification is the model: one of k, or noise p."""
    browser = weeks_of([1, 3, 10, 20, 105], seed=3, noise=0.2, noise_rule=noise_rule)
    real = told(browser, after(4.9))
    assert real.shape == (len(SITES), 3)
    assert real.min() >= 0
    api = TopicsAPI(len(TAXONOMY), top_k=5, noise=0.2)
    model = api.expose(sets_of(browser, len(SITES)), seed=1).tokens
    for epoch in range(3):
        both = np.stack([np.bincount(x[:, epoch], minlength=len(TAXONOMY)) for x in (real, model)])
        assert chi2_contingency(both[:, both.sum(axis=0) > 0]).pvalue > 1e-3
        inside = np.isin(np.arange(len(TAXONOMY)), TAXONOMY.to_tokens([1, 3, 10, 20, 105]))
        expected = np.where(inside, api.q_in, api.q_out) * len(SITES)
        assert chisquare(both[0], expected).pvalue > 1e-3


def test_epochs_and_browsers_are_independent():
    browser = weeks_of([1, 3, 10, 20, 105], seed=0, noise=0.0)
    other = weeks_of([1, 3, 10, 20, 105], seed=1, noise=0.0)
    one, two = told(browser, after(4.9)), told(other, after(4.9))
    for a, b in ((one[:, 0], one[:, 1]), (one[:, 1], one[:, 2]), (one[:, 0], two[:, 0]), (one[1:, 0], one[:-1, 0])):
        table = np.zeros((len(TAXONOMY), len(TAXONOMY)))
        np.add.at(table, (a, b), 1)
        table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
        assert chi2_contingency(table).pvalue > 1e-3


def test_ties_and_padding_are_uniform_and_padding_is_the_same_for_every_site():
    kept, padded = [], []
    for seed in range(1500):
        browser = Browser(TAXONOMY, seed=seed, top_k=2)
        for i, topic in enumerate([1, 10, 20]):
            browser.visit(10 + i, [topic], [ADS])
        browser.visit(WEEK + 1, [11], [ADS])
        browser.topics(2 * WEEK + 1, "a.example", ADS)
        _, tied, short = browser.epochs
        assert tied.n_padding == 0
        assert (short.topics[0], short.n_padding, len(set(short.topics))) == (11, 1, 2)
        kept += tied.topics
        padded.append(short.topics[1])
    assert chisquare(np.unique(kept, return_counts=True)[1]).pvalue > 1e-3
    values, counts = np.unique(padded, return_counts=True)
    assert set(values) == set(TAXONOMY.ids.tolist()) - {11}
    assert chisquare(counts).pvalue > 1e-3


def test_a_site_gets_the_same_answer_again_and_the_key_decides():
    first, again = (weeks_of([1, 3, 10, 20, 105], key=bytes(16), seed=s) for s in (0, 1))
    assert [e.topics for e in first.epochs[1:]] == [e.topics for e in again.epochs[1:]]
    a = told(first, after(4.9), sites=SITES[:50])
    assert np.array_equal(a, told(again, after(4.9), sites=SITES[:50]))
    assert np.array_equal(a, told(first, after(4.95), sites=SITES[:50]))
    other = weeks_of([1, 3, 10, 20, 105], key=bytes(15) + b"\1")
    assert not np.array_equal(a, told(other, after(4.9), sites=SITES[:50]))


def test_only_visits_on_which_somebody_calls_count():
    browser = weeks_of([1, 3, 10, 11], weeks=1)
    browser.topics(WEEK + 1, "a.example", ADS)
    assert browser.epochs[-1].topics[:4] == (1, 3, 10, 11)
    assert browser.epochs[-1].n_padding == 1
    silent = Browser(TAXONOMY)
    silent.visit(5, [1], [])
    assert silent.n_visits == 0


def test_a_caller_learns_what_it_observed_or_something_below_it():
    browser = Browser(TAXONOMY, top_k=1, noise=0.0)
    for k in range(3):
        browser.visit(k, [2], ["first.example"])
    browser.visit(10, [3], ["below.example"])
    browser.visit(11, [1], ["above.example"])
    got = {
        who: browser.topics(after(1.5), "shop.example", f"{who}.example") for who in ("first", "below", "above", "none")
    }
    assert got == {"first": (2,), "below": (2,), "above": (), "none": ()}


def test_observations_last_three_weeks_and_visits_four():
    browser = Browser(TAXONOMY, top_k=1, noise=0.0)
    browser.visit(1, [1], ["early.example"])
    for week in range(5):
        browser.visit(week * WEEK + 100, [1], [ADS])
    answers = browser.answers(after(5) - 1, "shop.example", "early.example")
    assert [(time // WEEK, topic) for time, topic in answers] == [(2, 1), (3, 1), (4, None)]
    assert browser.n_visits == 4  # the first week's two are more than four weeks old


@pytest.mark.parametrize(("rule", "share"), [("original", 0.3), ("observed", 0.0)])
def test_noise_without_observation_depends_on_the_rule(rule, share):
    browser = weeks_of([1, 3, 10, 20, 105], noise=0.3, noise_rule=rule)
    stranger = told(browser, after(4.9), caller="stranger.example")
    assert np.mean(stranger >= 0) == pytest.approx(share, abs=0.01)


def test_a_new_epoch_comes_up_to_two_days_late_by_site():
    browser = weeks_of([1, 3, 10, 20, 105], weeks=5)
    arrived = []
    for hour in range(0, 49):
        now = after(5) + hour * 3600 + 1
        newest = [browser.answers(now, site, ADS)[-1][0] for site in SITES[:400]]
        arrived.append(np.mean(np.array(newest) == 5 * WEEK))
        assert all(len(browser.answers(now, site, ADS)) == 3 for site in SITES[:5])
    assert arrived[0] < 0.02
    assert arrived[-1] == 1.0
    assert np.allclose(arrived, np.arange(49) / 48, atol=0.08)


def test_an_epoch_ends_after_26_to_28_days_where_the_browser_was_closed():
    browser = weeks_of([1, 3, 10, 20, 105], weeks=1, always_on=False)
    browser.visit(WEEK + 1, [], [ADS])  # opens the browser: the week is calculated now
    made = browser.epochs[-1].time
    left = [
        np.mean([any(time == made for time, _ in browser.answers(made + day * DAY, site, ADS)) for site in SITES[:400]])
        for day in (25, 26, 27, 28, 29)
    ]
    assert left[:2] == [1.0, 1.0]
    assert left[2] == pytest.approx(0.5, abs=0.08)
    assert left[3:] == pytest.approx([0.0, 0.0], abs=0.01)


def test_a_closed_browser_calculates_when_it_is_opened():
    browser = weeks_of([1, 3, 10, 20, 105], weeks=1, always_on=False)
    browser.visit(after(1.5), [1], [ADS])
    assert [epoch.time for epoch in browser.epochs] == [1, after(1.5)]
    browser.visit(after(6), [10], [ADS])
    assert [epoch.time for epoch in browser.epochs][-1] == after(6)
    assert browser.epochs[-1].n_padding == 5  # nothing was visited in the week before


def test_high_utility_trees_rank_first():
    browser = Browser(TAXONOMY, top_k=2, high_utility=[10])
    for k, topic in enumerate([1, 1, 1, 20, 20, 11]):
        browser.visit(k + 1, [topic], [ADS])
    browser.topics(WEEK + 1, "a.example", ADS)
    assert browser.epochs[-1].topics == (11, 1)


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 60 * DAY), st.sampled_from(TAXONOMY.ids.tolist()), st.booleans()), max_size=40)
)
def test_whatever_the_history_the_rules_hold(history):
    browser = Browser(TAXONOMY, noise=0.0)
    for time, topic, called in sorted(history):
        browser.visit(time, [topic], [ADS] if called else [])
    allowed = {above for _, t, called in history if called for above in (t, *TAXONOMY.ancestors(t))}
    for site in SITES[:5]:
        answers = browser.answers(60 * DAY + 1, site, ADS)
        assert len(answers) == 3
        assert {topic for _, topic in answers} <= allowed | {None}
    assert all(len(set(epoch.topics)) == 5 for epoch in browser.epochs)
    assert len(browser.epochs) <= 4


def test_a_long_pause_costs_nothing_and_leaves_padding():
    browser = weeks_of([1, 3, 10, 20, 105], weeks=1)
    browser.visit(10**13, [1], [ADS])
    assert [epoch.n_padding for epoch in browser.epochs] == [5] * 4
    assert browser.epochs[-1].time % WEEK == 0
    assert 10**13 - browser.epochs[-1].time <= WEEK


@pytest.mark.parametrize(
    ("options", "message"),
    [({"noise": 2.0}, "noise"), ({"noise_rule": "new"}, "noise_rule must be"),
     ({"key": b"short"}, "16 bytes"), ({"top_k": 0}, "top_k"), ({"high_utility": [2]}, "names root topics; 2 is"),
     ({"seed": -1}, "seed must be")],
)  # fmt: skip
def test_bad_options_are_refused(options, message):
    with pytest.raises(OptionError, match=message):
        Browser(TAXONOMY, **options)


def test_bad_visits_and_questions_are_refused():
    browser = Browser(TAXONOMY)
    browser.visit(100, [1], [ADS])
    for call, message in [
        (lambda: browser.visit(99, [1], [ADS]), "time 99 is before 100"),
        (lambda: browser.visit(float("nan"), [1], [ADS]), "time is nan"),
        (lambda: browser.visit(101, [5], [ADS]), "topic id 5 is not in the taxonomy"),
        (lambda: browser.topics(101, "", ADS), "site is ''"),
        (lambda: browser.topics(101, "a.example", ""), "caller is ''"),
    ]:
        with pytest.raises(DataError, match=message):
            call()
    assert browser.n_visits == 1
