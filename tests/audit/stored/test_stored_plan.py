"""What runs on stored tables within the time given, and what a saved spec says of what did not."""

from types import SimpleNamespace

from reidrisk.attacks.registry import entry
from reidrisk.audit import AuditSpec
from reidrisk.audit.stored.plan import planned


class Table(SimpleNamespace):
    def __len__(self):
        return self.n


def test_what_had_no_time_has_none_when_the_saved_spec_is_run_again():
    table = Table(n=3_000_000, n_epochs=8, n_tokens=350)
    tables = SimpleNamespace(targets=table, queries=table)
    usual = [entry(name) for name in ("hamming", "weighted-hamming", "profile-bayes", "tf-idf")]
    running, size, not_run = planned(AuditSpec(seed=1, budget=1.0), tables, usual, usual, (8,), 1)
    assert {one.name for one in running} >= {"hamming", "weighted-hamming"}
    assert "profile-bayes" in {one.attack for one in not_run if one.why == "time"}
    names = tuple(one.name for one in running)
    saved = AuditSpec(seed=1, budget=1.0, attacks=names, sample=size)
    again = planned(saved, tables, running, usual, (8,), 1)
    assert again[:2] == (running, size)
    assert [one.to_dict() for one in again[2]] == [one.to_dict() for one in not_run]
    chosen = planned(AuditSpec(seed=1, attacks=("hamming",), sample=size), tables, usual[:1], usual, (8,), 1)[2]
    assert {one.why for one in chosen} == {"not asked"}
