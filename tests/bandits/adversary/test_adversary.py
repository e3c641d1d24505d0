"""The adversary from outside: guises, limits, what it collects, and that its rate is the library's."""

import numpy as np
import pytest

from reidrisk import bandits
from reidrisk.bandits import Behaviour, Repository, ServiceSpec, adversary
from reidrisk.bandits.adversary.collect import collect, guises
from reidrisk.bandits.linkage.measure import auxiliary
from reidrisk.bandits.service.local import LocalService
from reidrisk.base.errors import DataError, FormatError, OptionError

N, D = 12, 5


def people(users=None):
    lots = np.random.default_rng(3)
    records = lots.dirichlet(np.full(D, 0.5), (N, D))
    profiles = np.repeat(np.arange(4.0), 3)[:, None] * 10 + lots.normal(size=(N, 2))
    return Behaviour(records, profiles, users or tuple(map(str, range(N))), tuple("abcde"), "made up")


def served(service):
    """Let everyone join and share; return them, named by their agents."""
    clients = service.joined(N)
    there = people(tuple(client.agent for client in clients))
    for client, record, profile in zip(clients, there.records, there.profiles, strict=True):
        client.share(record, profile)
        client.close()
    service.rebuild()
    return there


def attacked(strategy, n_guises=30, identities=1, **options):
    options = {"minimum_group": 3, "requests_per_minute": 0, "profiles_per_day": 0, **options}
    with LocalService(ServiceSpec(strategy=strategy, rebuild_every=1e4, **options)) as service:
        there = served(service)
        spies = service.joined(identities)
        found = adversary(spies, there, n_guises, service.membership(), seed=1)
        handed = {agent: np.array(g.matrix) for g in service.publisher.snapshot.groups for agent in g.members}
        return found, there, handed


def test_without_limits_it_is_the_attacker_of_the_library():
    found, there, handed = attacked("microaggregation:3")
    assert (found.collected, found.groups, found.answered) == (4, 4, 30)
    groups = np.unique([str(handed[user]) for user in there.users], return_inverse=True)[1].ravel()
    given = np.array([handed[user] for user in there.users])
    shared = bandits.Shared(given, groups, groups, ServiceSpec(minimum_group=3).steps(), np.zeros((D, D)))
    known = {"n_aux": D * D - 2, "seed": 1}
    same = bandits.deanonymisation(there, shared, attack="likelihood", **known)
    assert found.likelihood.rate == pytest.approx(same.rate, abs=0.05)
    even = bandits.deanonymisation(there, shared, weights="uniform", **known)
    assert found.scoreboard.rate == pytest.approx(even.rate, abs=1e-9)
    assert found.likelihood.rate <= 1 / 3


def test_single_records_are_all_found_and_limits_help():
    found, _, _ = attacked("own", minimum_group=1)
    assert (found.collected, found.strongest.rate) == (N, 1.0)
    limited, _, _ = attacked("own", minimum_group=1, profiles_per_day=2)
    assert (limited.answered, limited.collected) == (2, 2)
    assert limited.strongest.rate == pytest.approx(2 / N)
    more, _, _ = attacked("own", minimum_group=1, profiles_per_day=2, identities=3)
    assert more.answered == 6


def test_without_the_truth_there_is_no_rate():
    with LocalService(ServiceSpec(minimum_group=3, strategy="average")) as service:
        there = served(service)
        found = adversary(service.joined(1), there, 2, seed=1)
        assert (found.scoreboard, found.strongest, found.collected) == (None, None, 1)
        old = service.membership() | {"version": 7}
        with pytest.raises(DataError, match="version"):
            adversary(service.joined(1), there, 2, old, seed=1)
        with pytest.raises(DataError, match="agents' ids"):
            adversary(service.joined(1), people(), 2, service.membership(), seed=1)
    assert bandits.AdversaryResult.from_json(found.to_json()) == found


def test_a_repository_grows_from_attack_to_attack():
    with LocalService(ServiceSpec(strategy="microaggregation:3", minimum_group=3, profiles_per_day=0)) as service:
        there = served(service)
        known, rates = Repository(), []
        for round_ in range(3):
            spies = service.joined(1)
            found = adversary(spies, there, 30, service.membership(), n_aux=2, seed=round_, repository=known)
            rates.append((found.cells, found.likelihood.rate))
        one_draw = adversary(spies, there, 30, service.membership(), n_aux=2, seed=0)
        assert one_draw.cells == rates[0][0] == 2
        known.add(there.users[0], {99: 0.5})
        with pytest.raises(DataError, match="cell 99"):
            adversary(spies, there, 1, service.membership(), n_aux=2, seed=0, repository=known)
    assert rates[0][0] < rates[1][0] < rates[2][0] <= 6
    assert rates[0][1] < rates[2][1]


def test_an_adversary_needs_an_identity():
    with pytest.raises(OptionError, match="identity"):
        collect([], np.ones((1, 1)))


def test_guises_imitate_everybody_before_anybody_twice():
    profiles = np.random.default_rng(0).normal(size=(7, 2))
    made = guises(profiles, 20, seed=4)
    assert sorted(map(tuple, made[:7])) == sorted(map(tuple, profiles))
    assert len({tuple(one) for one in made}) == 20


def test_the_repository_is_kept_and_added_to(tmp_path):
    known, there = Repository(), people()
    known.add_drawn(there.users, auxiliary(there.records, 3, seed=0, draws=1))
    assert all(len(cells) == 3 for cells in known.cells.values())
    known.write(tmp_path / "known.json")
    again = Repository.read(tmp_path / "known.json")
    assert again == known
    again.add("0", {24: 0.5})
    cells, values = again.arrays("0")
    assert (cells[-1], values[-1]) == (24, 0.5)
    assert (np.diff(cells) > 0).all()
    (tmp_path / "known.json").write_text("[1]")
    with pytest.raises(FormatError):
        Repository.read(tmp_path / "known.json")
