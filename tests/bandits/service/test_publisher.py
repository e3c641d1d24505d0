"""Publishing: whole versions, refusal above the risk, withdrawals that reach everything, restarts."""

import json
import threading

import numpy as np
import pytest

from reidrisk.bandits.service import publisher as publishing
from reidrisk.bandits.service.snapshot import moment
from reidrisk.bandits.service.storage.schema import versions
from reidrisk.base.errors import OptionError

FAR = ([0.0, 0.0], [50.0, 50.0])


def two_groups(made):
    people = made.join(6, share=False)
    for number, one in enumerate(people):
        near = FAR[number // 3]
        made.share(one, profile=[x + number / 100 for x in near])
    return people, made.rebuild()


def test_newcomers_receive_the_group_that_is_nearest(scene):
    made = scene(profiles_per_day=0)
    people, snapshot = two_groups(made)
    assert [group.size for group in snapshot.groups] == [3, 3]
    (newcomer,) = made.join(1, share=False)
    for number, near in enumerate(FAR):
        answer = made.fetch(newcomer, near).json()
        mean = np.mean([one.matrix for one in people[3 * number : 3 * number + 3]], axis=0)
        np.testing.assert_allclose(answer["matrix"], mean, atol=1e-8)
        assert answer["members_at_least"] == 3
    assert made.fetch(newcomer, [1.0]).status_code == 422


def test_nothing_is_handed_out_before_there_are_enough(scene):
    made = scene()
    first = made.join(2)
    made.rebuild()
    answer = made.fetch(first[0], [0.0, 0.0])
    assert (answer.status_code, answer.json()["type"]) == (503, "urn:reidrisk:no-group")
    assert made.http.get(first[0].record, headers=first[0].headers).json()["state"] == "waiting"
    made.join(1)
    made.rebuild()
    assert made.fetch(first[0], [0.0, 0.0]).status_code == 200
    assert made.http.get(first[0].record, headers=first[0].headers).json()["state"] == "included"


def test_a_withdrawal_reaches_everything_at_the_next_rebuild(scene):
    made = scene(profiles_per_day=0)
    people, _ = two_groups(made)
    gone = made.http.delete(people[0].record, headers=people[0].headers).json()
    assert (gone["state"], gone["included_revision"]) == ("withdrawn", None)
    assert gone["next_rebuild"] == moment(made.publisher.next_rebuild())
    snapshot = made.rebuild()
    behind = {agent for group in snapshot.groups for agent in group.members}
    assert behind == {one.agent for one in people[3:]}, "the whole batch is gone, not the one member"
    assert made.fetch(people[1], FAR[0]).json()["matrix"] == made.fetch(people[1], FAR[1]).json()["matrix"]
    rows = made.everything()["records"]
    assert [row.matrix for row in rows if row.agent == people[0].agent] == [None]


def test_a_withdrawal_during_a_rebuild_is_not_published_over(scene, monkeypatch):
    made = scene()
    people, first = two_groups(made)
    made.join(3)
    built = publishing.built

    def meanwhile(*given, **options):
        made.http.delete(people[0].record, headers=people[0].headers)
        made.share(people[0])
        return built(*given, **options)

    monkeypatch.setattr(publishing, "built", meanwhile)
    assert made.rebuild().version == first.version, "what was worked out is not written"
    monkeypatch.setattr(publishing, "built", built)
    members = {agent for group in made.rebuild().groups for agent in group.members}
    assert people[1].agent not in members or people[0].agent in members


def test_above_the_risk_nothing_is_handed_out(scene):
    made = scene(strategy="own", minimum_group=1, max_risk=0.5)
    people, snapshot = two_groups(made)
    assert snapshot.status == "refused"
    answer = made.fetch(people[0], FAR[0])
    assert (answer.status_code, answer.json()["type"]) == (503, "urn:reidrisk:risk-too-high")
    assert "matrix" not in answer.text
    assert made.http.get("/health").json() == {"status": "up", "serving": "no"}
    again = scene(strategy="own", minimum_group=1, max_risk=1.0)
    assert again.publisher.snapshot.status == "published", "another limit is looked at anew"
    assert again.http.get("/health").json() == {"status": "up", "serving": "yes"}


def test_a_risk_that_was_not_measured_is_no_low_one(scene):
    made = scene(strategy="own", minimum_group=1, max_risk=1.0)
    made.join(1)
    assert made.rebuild().status == "refused"


def test_a_rebuild_that_fails_hands_nothing_out(scene, monkeypatch, caplog):
    made = scene()
    people, _ = two_groups(made)
    made.http.delete(people[0].record, headers=people[0].headers)

    def fail(*_, **__):
        raise RuntimeError("cell 0.123 of somebody")

    monkeypatch.setattr(publishing, "built", fail)
    assert made.rebuild().status == "failed"
    assert made.fetch(people[1], FAR[1]).json()["type"] == "urn:reidrisk:rebuild-failed"
    assert "0.123" not in caplog.text
    monkeypatch.undo()
    assert made.rebuild().status == "published"


def test_a_restart_hands_the_same_out(scene):
    made = scene(strategy="microaggregation:3+laplace:0.001,uniform")
    people, _ = two_groups(made)
    before = made.fetch(people[0], FAR[0]).json()
    again = scene(strategy="microaggregation:3+laplace:0.001,uniform")
    assert again.fetch(people[0], FAR[0]).json() == before
    again.rebuild()
    assert again.fetch(people[0], FAR[0]).json() == before
    other = scene(strategy="average")
    assert other.fetch(people[0], FAR[0]).status_code == 503, "what another strategy made is not this one's"
    other.rebuild()
    assert other.fetch(people[0], FAR[0]).status_code == 200


def test_nothing_new_makes_no_version(scene):
    made = scene()
    _, first = two_groups(made)
    assert made.rebuild().version == first.version == len(made.everything()[versions.name])


def test_neighbours_are_others(scene):
    made = scene(strategy="neighbour:1", minimum_group=1, profiles_per_day=0)
    people, _ = two_groups(made)
    got = np.array(made.fetch(people[0], people[0].profile).json()["matrix"])
    np.testing.assert_allclose(got, people[1].matrix, atol=1e-8)


def test_reads_go_on_during_a_rebuild_and_see_one_version(scene, monkeypatch):
    made = scene(strategy="average", profiles_per_day=0)
    people, _ = two_groups(made)
    made.join(6)
    begun, go_on, seen = threading.Event(), threading.Event(), []
    built = publishing.built

    def slow(*given, **options):
        begun.set()
        assert go_on.wait(30)
        return built(*given, **options)

    monkeypatch.setattr(publishing, "built", slow)
    rebuild = threading.Thread(target=made.rebuild)
    rebuild.start()
    assert begun.wait(30)
    seen += [made.fetch(people[0], [float(i), 0.0]).json() for i in range(5)]
    go_on.set()
    while rebuild.is_alive():
        seen.append(made.fetch(people[0], FAR[0]).json())
    seen.append(made.fetch(people[0], FAR[0]).json())
    by_version = {}
    for answer in seen:
        by_version.setdefault(answer["version"], set()).add(json.dumps(answer["matrix"]))
    assert sorted(by_version) == [1, 2]
    assert all(len(matrices) == 1 for matrices in by_version.values())


def test_private_clusters_stop_when_the_budget_is_spent(scene):
    made = scene(strategy="private-clusters:2,5,1e-6", publications=2)
    made.join(3)
    assert len(made.rebuild().groups) == 1
    made.join(3)
    assert len(made.rebuild().groups) == 2
    people = made.join(3)
    # With a third batch, clusters change, and there is no budget for another draw of them.
    assert len(made.rebuild().groups) < 2
    made.http.delete(people[0].record, headers=people[0].headers)
    made.rebuild()
    assert sum(row.draws > 0 for row in made.everything()["versions"]) == 2


def test_a_budget_is_for_all_that_a_database_ever_handed_out(scene):
    private = {"strategy": "private-clusters:2,5,1e-6"}
    made = scene("plain.db")
    two_groups(made)
    with pytest.raises(OptionError, match="without a budget"):
        scene("plain.db", **private)
    scene("private.db", **private)
    scene("private.db", **private)
    for other in (private | {"publications": 24}, {"strategy": "private-clusters:2,6,1e-6"}, {"strategy": "average"}):
        with pytest.raises(OptionError, match="promised"):
            scene("private.db", **other)


@pytest.mark.parametrize("strategy", ["average", "clusters:2", "microaggregation:3", "private-clusters:2,5,1e-6"])
def test_no_group_is_below_the_minimum(scene, strategy):
    made = scene(strategy=strategy, minimum_group=4)
    lots, people = np.random.default_rng(0), []
    for _ in range(4):
        people += made.join(int(lots.integers(1, 6)))
        if len(people) > 5:
            one = people.pop(int(lots.integers(len(people))))
            made.http.delete(one.record, headers=one.headers)
        assert all(group.size >= 4 for group in made.rebuild().groups)
