"""Trying to get one member's matrix out of a service that aggregates: by every route, by versions, by guises."""

from itertools import combinations, product

import numpy as np
import pytest

STRATEGIES = ["average", "clusters:2", "microaggregation:3", "private-clusters:2,5,1e-6"]
NEAR = 1e-6


def is_somebodys(matrix, people):
    return any(np.abs(np.asarray(matrix) - one.matrix).max() < NEAR for one in people)


def collected(made, one, profiles):
    """Return the different matrices that an agent gets under many profiles."""
    found = {}
    for profile in profiles:
        answer = made.fetch(one, profile)
        if answer.status_code == 200:
            found[str(answer.json()["matrix"])] = np.array(answer.json()["matrix"])
    return list(found.values())


def told(matrices, people):
    """Return a weighted sum of matrices that is somebody's record, if there is one: means of 3 to 12 members."""
    sums = [(size, matrix) for matrix in matrices for size in range(3, 13)]
    for count in (1, 2):
        for chosen in combinations(sums, count):
            for signs in product((-1, 1), repeat=count):
                total = sum(sign * size * matrix for sign, (size, matrix) in zip(signs, chosen, strict=True))
                for members in (1, 2):
                    if is_somebodys(total / members, people):
                        return chosen
    return None


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_no_route_returns_a_record(scene, strategy):
    made = scene(strategy=strategy, profiles_per_day=0)
    people = made.join(7)
    made.rebuild()
    spy = people[0]
    texts = [made.http.get(spy.record, headers=spy.headers).text]
    texts += [made.fetch(spy, one.profile).text for one in people]
    texts += [made.http.get(f"/v1/agents/{one.agent}/record", headers=spy.headers).text for one in people[1:]]
    texts += [made.http.get(path, headers=made.admin).text for path in ("/admin/overview", "/admin/ledger", "/metrics")]
    texts += [made.http.get(path).text for path in ("/v1/about", "/health", "/openapi.json")]
    for text in texts:
        for one in people:
            assert repr(float(one.matrix[0, 0]))[:8] not in text
            assert repr(float(one.profile[0]))[:8] not in text


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_versions_do_not_give_a_newcomer_away(scene, strategy):
    made = scene(strategy=strategy, profiles_per_day=0)
    people = made.join(4)
    guises = [list(point) for point in np.random.default_rng(2).normal(size=(12, 2))]
    made.rebuild()
    kept = collected(made, people[0], guises)
    for change in ("join", "update", "withdraw"):
        if change == "join":
            people += made.join(1)
        elif change == "update":
            made.share(people[1])
        else:
            made.http.delete(people[2].record, headers=people[2].headers)
        made.rebuild()
        kept += [m for m in collected(made, people[0], guises) if not any(np.array_equal(m, old) for old in kept)]
        assert told(kept, people) is None, change
    people += made.join(3)
    made.rebuild()
    kept += collected(made, people[0], guises)
    assert told(kept, people) is None


def test_without_batches_versions_would_give_a_newcomer_away(scene):
    """The same search finds a newcomer where means are simply taken anew: it can find."""
    lots = np.random.default_rng(0)
    people = scene().join(5)
    records = np.array([one.matrix for one in people])
    assert told([records[:4].mean(axis=0), records.mean(axis=0)], people) is not None
    assert told([lots.dirichlet(np.ones(4), 4), records.mean(axis=0)], people) is None


def test_members_in_league_are_not_defended_against(scene):
    """What the threat model says: k - 1 members subtract their own. Only private clusters hold."""
    for strategy, found in (("microaggregation:3", True), ("private-clusters:1,5,1e-6", False)):
        made = scene(f"{strategy[:4]}.db", strategy=strategy)
        spy, other, victim = made.join(3)
        made.rebuild()
        (mean,) = collected(made, spy, [[0.0, 0.0]])
        left = 3 * mean - spy.matrix - other.matrix
        assert (np.abs(left - victim.matrix).max() < NEAR) == found
