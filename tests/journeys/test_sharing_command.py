"""The service, its adversary and its backup from the command line."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from reidrisk.bandits import Client, ServiceError, ServiceSpec
from reidrisk.bandits.service.local import LocalService


@pytest.mark.parametrize(
    ("options", "what"),
    [
        (["--host", "0.0.0.0"], "--behind-tls"),
        (["--host", "192.0.2.1"], "--behind-tls"),
        (["--strategy", "own"], "--minimum-group 5"),
        (["--strategy", "nonsense"], "nonsense"),
        (["--max-risk", "2"], "--max-risk must be"),
        (["--database", "mysql://x/y"], "mysql"),
        (["--database", "sqlite:///no/such/folder/x.db"], "no/such/folder"),
        (["--database", "postgresql://127.0.0.1:9/none"], "is the server up"),
        (["--port", "99999"], "99999"),
    ],
)
def test_what_does_not_fit_is_one_line(reidrisk, tmp_path, monkeypatch, options, what):
    monkeypatch.chdir(tmp_path)
    done = reidrisk("bandits", "serve", *options)
    assert (done.code, done.err.count("\n")) == (2, 1), done.err
    assert what in done.err
    assert not [path for path in tmp_path.iterdir() if path.suffix != ".db"]


def test_a_service_runs_until_it_is_told_to_stop(tmp_path):
    database = f"sqlite:///{tmp_path / 'sharing.db'}"
    command = [sys.executable, "-m", "reidrisk", "bandits", "serve", "--database", database, "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        line = process.stdout.readline()
        url = line.split()[-1]
        administrator = (tmp_path / "sharing.db.administrator").read_text().strip()
        admin = Client(url, administrator)
        client = Client(url)
        client.join(admin.call("POST", "/admin/codes", {})["codes"][0])
        assert client.standing()["state"] == "none"
        with pytest.raises(ServiceError, match="group"):
            Client(url, client.token, tries=1).fetch([1.0])
        process.terminate()
        rest, errors = process.communicate(timeout=60)
    assert (process.returncode, rest, errors) == (0, "", "")
    assert administrator not in line
    assert {path.stat().st_mode & 0o077 for path in tmp_path.iterdir() if path.suffix != ".lock"} == {0}


def test_the_adversary_reports_and_a_backup_serves_the_same(reidrisk, tmp_path):
    lots, n = np.random.default_rng(1), 6
    records, profiles = lots.dirichlet(np.ones(4), (n, 4)), lots.normal(size=(n, 2))
    spec = ServiceSpec(strategy="average", minimum_group=3, rebuild_every=1e4)
    database, copy = tmp_path / "sharing.db", tmp_path / "copy.db"
    with LocalService(spec, f"sqlite:///{database}") as service:
        clients = service.joined(n)
        for client, record, profile in zip(clients, records, profiles, strict=True):
            client.share(record, profile)
        service.rebuild()
        np.savez(tmp_path / "people.npz", records=records, profiles=profiles, users=[c.agent for c in clients])
        for name, lines in (("administrator", [service.administrator]), ("codes", service.codes(2))):
            (tmp_path / name).write_text("\n".join(lines))
        files = {name: str(tmp_path / name) for name in ("administrator", "codes", "known.json")}
        done = reidrisk(
            *("bandits", "attack", service.url, "--people", tmp_path / "people.npz", "--guises", 4, "--seed", 1),
            *("--administrator", files["administrator"], "--codes", files["codes"]),
            *("--repository", files["known.json"], "--json"),
        )
        assert done.code == 0, done.err
        found = json.loads(done.out)
        assert (found["identities"], found["answered"], found["collected"]) == (2, 4, 1)
        assert found["likelihood"]["rate"] == pytest.approx(1 / n)
        assert len(json.loads(Path(files["known.json"]).read_text())) == n
        again = reidrisk(
            *("bandits", "attack", service.url, "--people", tmp_path / "people.npz"),
            *("--codes", files["codes"], "--administrator", files["administrator"]),
        )
        assert (again.code, "used before" in again.err) == (2, True)
        before = clients[0].fetch(profiles[0]).matrix
        assert reidrisk("bandits", "backup", copy, "--database", f"sqlite:///{database}").code == 0
        assert reidrisk("bandits", "backup", copy, "--database", f"sqlite:///{database}").code == 2
        clients[0].withdraw()
    with LocalService(spec, f"sqlite:///{copy}") as restored:
        client = Client(restored.url, clients[0].token)
        np.testing.assert_array_equal(client.fetch(profiles[0]).matrix, before)
        assert client.standing()["state"] == "included"
