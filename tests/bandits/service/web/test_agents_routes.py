"""What agents may do, and what is refused without a trace: malformed, oversized, replayed, another's."""

import json

import numpy as np
import pytest

GOOD = {"matrix": [[0.5, 0.5], [0.25, 0.75]], "profile": [1.0, 2.0]}


def broken(change):
    return {**GOOD, **change}


BAD_RECORDS = {
    "not a square": broken({"matrix": [[0.5, 0.5]]}),
    "ragged": broken({"matrix": [[0.5, 0.5], [1.0]]}),
    "rows do not add up": broken({"matrix": [[0.5, 0.6], [0.5, 0.5]]}),
    "negative": broken({"matrix": [[1.5, -0.5], [0.5, 0.5]]}),
    "text": broken({"matrix": "all of it"}),
    "null": broken({"matrix": None}),
    "no profile": {"matrix": GOOD["matrix"]},
    "empty profile": broken({"profile": []}),
    "huge profile": broken({"profile": [1e300, 1.0]}),
    "another agent's id": {**GOOD, "agent": "0123456789abcdef"},
    "a list": [1, 2, 3],
}


@pytest.fixture
def two(scene):
    made = scene()
    return made, *made.join(2, share=False)


def refused(response, *statuses):
    assert response.status_code in statuses, response.text
    assert response.headers["content-type"] == "application/problem+json"
    body = response.json()
    assert body["status"] == response.status_code
    assert body["type"].startswith("urn:reidrisk:")
    assert set(body) == {"type", "title", "status", "detail"}
    return body["type"].removeprefix("urn:reidrisk:")


def test_whatever_is_malformed_changes_nothing(two):
    made, one, other = two
    before = made.everything()
    put = lambda **given: made.http.put(one.record, headers=one.headers, **given)  # noqa: E731
    for name, body in BAD_RECORDS.items():
        assert refused(put(json=body), 422), name
    for text in ('{"matrix": [[NaN, 1], [0, 1]], "profile": [1]}', '{"matrix": [[1e999, 0], [0, 1]], "profile": [1]}'):
        refused(put(content=text.encode()), 422)
    for text in (b"", b"{", b"\xff\xfe", b"[" * 90_000):
        refused(put(content=text), 400, 422)
    assert refused(put(content=b" " * 1_000_001), 413) == "too-large"
    chunks = (b" " * 200_000 for _ in range(6))
    assert refused(put(content=chunks), 413) == "too-large"
    assert refused(made.http.put(other.record, json=GOOD, headers=one.headers), 403) == "agent-other"
    assert refused(made.http.put(one.record, json=GOOD), 401) == "token-missing"
    assert refused(made.http.get("/v1/agents/nonsense/record", headers=one.headers), 422) == "request-invalid"
    assert refused(made.http.delete(one.record, headers=one.headers), 404) == "record-unknown"
    for token in ("", "x", one.token[:-1], one.token.replace(one.agent, other.agent), f"{one.token}x"):
        refused(made.http.put(one.record, json=GOOD, headers={"Authorization": f"Bearer {token}"}), 401)
    refused(made.http.post("/v1/agents", json={"code": "enrol-nonsense"}), 403)
    refused(made.http.post("/v1/agents", content=rb'{"code": "\ud800"}'), 403, 422)
    assert made.everything() == before


def test_shapes_are_everybodys(two):
    made, one, other = two
    assert made.http.put(one.record, json=GOOD, headers=one.headers).status_code == 200
    before = made.everything()
    larger = {"matrix": np.eye(3).tolist(), "profile": [1.0, 2.0]}
    for body in (larger, broken({"profile": [1.0]})):
        refused(made.http.put(other.record, json=body, headers=other.headers), 422)
    assert made.everything() == before


def test_a_code_is_good_once(scene):
    made = scene()
    (code,) = made.http.post("/admin/codes", json={}, headers=made.admin).json()["codes"]
    first = made.http.post("/v1/agents", json={"code": code})
    assert (first.status_code, first.json()["agent"] in first.json()["token"]) == (201, True)
    before = made.everything()
    assert refused(made.http.post("/v1/agents", json={"code": code}), 409) == "code-used"
    assert made.everything() == before


def test_a_code_expires(scene, monkeypatch):
    from reidrisk.bandits.service import members

    made = scene()
    (code,) = made.http.post("/admin/codes", json={"hours": 1.0}, headers=made.admin).json()["codes"]
    later = members.time.time() + 3601.0
    monkeypatch.setattr(members.time, "time", lambda: later)
    assert refused(made.http.post("/v1/agents", json={"code": code}), 403) == "code-unknown"


def test_tokens_are_rotated_and_revoked(two):
    made, one, _ = two
    fresh = made.http.post(f"/v1/agents/{one.agent}/token", headers=one.headers).json()["token"]
    refused(made.http.get(one.record, headers=one.headers), 401)
    one.token = fresh
    assert made.http.get(one.record, headers=one.headers).json()["state"] == "none"
    assert made.http.delete(f"/v1/agents/{one.agent}/token", headers=one.headers).status_code == 204
    refused(made.http.get(one.record, headers=one.headers), 401)


def test_no_secret_is_kept_or_logged(scene, caplog, capfd):
    caplog.set_level(0)
    made = scene()
    codes = made.http.post("/admin/codes", json={"count": 2}, headers=made.admin).json()["codes"]
    one = made.http.post("/v1/agents", json={"code": codes[0]}).json()
    headers = {"Authorization": f"Bearer {one['token']}"}
    made.http.put(f"/v1/agents/{one['agent']}/record", json=GOOD, headers=headers)
    made.http.put(f"/v1/agents/{one['agent']}/record", json={"matrix": one["token"]}, headers=headers)
    kept = repr(made.everything()) + caplog.text + "".join(capfd.readouterr())
    for secret in (*codes, one["token"], one["token"].split("_", 2)[2], made.admin["Authorization"][7:]):
        assert secret not in kept


def test_a_write_with_a_key_happens_once(two):
    made, one, _ = two
    first = made.http.put(one.record, json=GOOD, headers={**one.headers, "Idempotency-Key": "k1"})
    assert first.json()["revision"] == 1
    before = made.everything()
    again = made.http.put(one.record, json=GOOD, headers={**one.headers, "Idempotency-Key": "k1"})
    assert (again.status_code, again.json()["revision"]) == (200, 1)
    other = broken({"profile": [3.0, 4.0]})
    refused(made.http.put(one.record, json=other, headers={**one.headers, "Idempotency-Key": "k1"}), 409)
    refused(made.http.put(one.record, json=other, headers={**one.headers, "Idempotency-Key": "k" * 65}), 422)
    assert made.everything() == before
    gone = [made.http.delete(one.record, headers={**one.headers, "Idempotency-Key": "k2"}) for _ in range(2)]
    assert [r.json()["state"] for r in gone] == ["withdrawn"] * 2


def test_requests_and_profiles_are_limited(scene):
    made = scene(requests_per_minute=20, profiles_per_day=2, updates_per_day=2)
    made.join(3)
    made.rebuild()
    (one,) = made.join(1)
    assert made.share(one).status_code == 200
    spent = made.share(one)
    assert (refused(spent, 429), int(spent.headers["retry-after"]) <= 86_400) == ("updates-spent", True)
    answers = [made.fetch(one, [float(i), 0.0]).status_code for i in (0, 1, 0, 2, 3, 1)]
    assert answers == [200, 200, 200, 429, 429, 200]
    assert refused(made.fetch(one, [9.0, 0.0]), 429) == "profiles-spent"
    many = [made.http.get(one.record, headers=one.headers) for _ in range(20)]
    assert refused(many[-1], 429) == "too-many-requests"
    assert int(many[-1].headers["retry-after"]) >= 1


def test_spent_profiles_stay_spent_after_a_restart(scene):
    made = scene(profiles_per_day=1)
    made.join(3)
    made.rebuild()
    (one,) = made.join(1)
    assert made.fetch(one, [0.0, 0.0]).status_code == 200
    again = scene(profiles_per_day=1)
    assert [again.fetch(one, [x, 0.0]).status_code for x in (1.0, 0.0)] == [429, 200]


def test_the_administrators_routes_are_the_administrators(two):
    made, one, _ = two
    for method, path in [
        ("post", "/admin/codes"),
        ("get", "/admin/overview"),
        ("get", "/admin/membership"),
        ("get", "/admin/ledger"),
        ("post", "/admin/rebuild"),
        ("delete", f"/admin/agents/{one.agent}"),
        ("get", "/metrics"),
        ("get", "/admin"),
    ]:
        for headers in (
            {},
            one.headers,
            {"Authorization": "Basic eHg="},
            {"Authorization": "Basic é".encode("latin-1")},
        ):
            refused(getattr(made.http, method)(path, headers=headers), 401)


def test_revoking_by_the_administrator_can_withdraw(two):
    made, one, _ = two
    made.http.put(one.record, json=GOOD, headers=one.headers)
    assert made.http.delete(f"/admin/agents/{one.agent}?withdraw=true", headers=made.admin).status_code == 204
    (row,) = [
        a for a in made.http.get("/admin/overview", headers=made.admin).json()["agents"] if a["agent"] == one.agent
    ]
    assert (row["revoked"], row["state"]) == (True, "withdrawn")
    refused(made.http.delete("/admin/agents/0123456789abcdef", headers=made.admin), 404)
    actions = [e["action"] for e in made.http.get("/admin/ledger", headers=made.admin).json()["entries"]]
    assert actions[-2:] == ["token-revoked", "withdrawn"]


def test_metrics_are_what_prometheus_reads(two):
    made, one, _ = two
    made.http.put(one.record, json=GOOD, headers=one.headers)
    text = made.http.get("/metrics", headers=made.admin).text
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    values = {line.rsplit(" ", 1)[0]: float(line.rsplit(" ", 1)[1]) for line in lines}
    assert values["reidrisk_members"] == 1
    assert values["reidrisk_shared_total"] == 1
    assert values['reidrisk_responses_total{status="201"}'] == 3
    assert values["reidrisk_serving"] == 0  # one member is no group: nothing is handed out
    assert json.loads(made.http.get("/health").text) == {"status": "up", "serving": "no"}
