"""Tokens: shown once, kept as digests, compared whole; the administrator's file is its owner's alone."""

import hmac

import pytest

from reidrisk.bandits.service import credentials
from reidrisk.base.errors import DataError


def test_a_token_is_compared_in_constant_time(monkeypatch):
    seen = []
    monkeypatch.setattr(hmac, "compare_digest", lambda a, b: seen.append((len(a), len(b))) or a == b)
    token, kept = credentials.new_token("0" * 16)
    secret = credentials.parts(token)[1]
    assert credentials.matches(secret, kept)
    assert not credentials.matches(secret[:-1] + ("A" if secret[-1] != "A" else "B"), kept)
    assert not credentials.matches(secret, None)
    assert seen == [(64, 64)] * 3, "whoever is unknown is compared as well"


@pytest.mark.parametrize("text", ["", "rr_", "rr_xyz_abc", "Bearer", "rr_" + "0" * 16 + "_short", "\udce4"])
def test_what_is_no_token_is_nobodys(text):
    assert credentials.parts(text)[0] == ""


def test_the_administrators_file_is_made_once_for_its_owner(tmp_path):
    path = tmp_path / "administrator"
    first = credentials.administrator(path)
    assert path.stat().st_mode & 0o777 == 0o600
    assert credentials.administrator(path) == first == credentials.digest(path.read_text().strip())
    path.chmod(0o644)
    with pytest.raises(DataError, match="others"):
        credentials.administrator(path)
    path.chmod(0o600)
    path.write_text("short")
    with pytest.raises(DataError, match="32 characters"):
        credentials.administrator(path)
