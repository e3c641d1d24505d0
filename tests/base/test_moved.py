"""What only studies use has moved: the old names warn, and without the studies one sentence says how to get them."""

import importlib
import subprocess
import sys

import pytest

from reidrisk import attacks, bandits, cohorts, measure, populations
from reidrisk.base.errors import MissingExtraError

MOVED = {
    bandits: (
        "ClusterScore",
        "cluster_scores",
        "clustered_users",
        "graph2vec",
        "read_casas",
        "read_endomondo",
        "read_fitbit",
    ),
    attacks: ("Both", "Either"),
    measure: ("Anonymity", "EpochInformation", "epoch_information", "p_above", "profile_anonymity"),
    cohorts: ("UsersNeeded", "kmeans", "prefix_lsh", "users_needed", "weekly_histories"),
    populations: ("audiences", "crossover", "distinct", "drifting", "identical", "iid", "seen", "visits"),
}
CASES = [(module, name) for module, names in MOVED.items() for name in names]

# What a command finds where the other distribution is not installed.
ALONE = """
import importlib.metadata, sys
sys.modules["reidrisk_studies"] = None
importlib.metadata.entry_points = lambda **_: ()
from reidrisk.cli import main
main({words!r})
"""


@pytest.mark.parametrize(("module", "name"), CASES, ids=lambda case: getattr(case, "__name__", case))
def test_an_old_name_still_works_and_says_where_it_is_now(module, name):
    pytest.importorskip("reidrisk_studies", reason="the studies are not installed")
    assert name not in module.__all__
    with pytest.warns(DeprecationWarning, match=rf"{module.__name__}\.{name} is now in reidrisk_studies\.") as caught:
        found = getattr(module, name)
    assert found.__name__ == name
    assert caught[0].filename == __file__


@pytest.mark.parametrize(
    ("module", "name"), [("errors", "DataError"), ("intervals", "mean_interval"), ("streams", "stream")]
)
def test_old_modules_that_were_documented_still_work(module, name):
    old = importlib.import_module(f"reidrisk.{module}")
    with pytest.warns(DeprecationWarning, match=rf"reidrisk\.{module}\.{name} is now in reidrisk\.base\.{module}"):
        found = getattr(old, name)
    assert found is getattr(importlib.import_module(f"reidrisk.base.{module}"), name)


def test_an_old_argument_still_works_and_says_where_it_is_now():
    studies = pytest.importorskip("reidrisk_studies.jha.near", reason="the studies are not installed")
    with pytest.warns(DeprecationWarning, match=r"WeightedHamming\(max_distance=\) is now in reidrisk_studies\."):
        found = attacks.WeightedHamming(5, 0.05, max_distance=2.0)
    assert type(found) is studies.NearHamming
    assert (found.top_k, found.max_distance) == (5, 2.0)


def test_the_old_package_of_studies_is_found_too():
    studies = pytest.importorskip("reidrisk_studies", reason="the studies are not installed")
    with pytest.warns(DeprecationWarning, match=r"reidrisk\.studies is now in reidrisk_studies"):
        from reidrisk import studies as found
    assert found is studies


@pytest.mark.parametrize(("module", "name"), CASES, ids=lambda case: getattr(case, "__name__", case))
def test_without_the_studies_an_old_name_says_how_to_get_it(module, name, monkeypatch):
    for known in [known for known in sys.modules if known.partition(".")[0] == "reidrisk_studies"]:
        monkeypatch.delitem(sys.modules, known)
    monkeypatch.setattr(sys, "meta_path", [_Nowhere, *sys.meta_path])
    with pytest.raises(MissingExtraError, match=r"pip install ./studies$"):
        getattr(module, name)


class _Nowhere:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] == "reidrisk_studies":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name.partition(".")[0])


@pytest.mark.parametrize("words", [["study"], ["study", "list"], ["study", "run", "jha-fig3", "--users", "9"]])
def test_without_the_studies_the_command_says_how_to_get_them(words):
    done = subprocess.run(
        [sys.executable, "-c", ALONE.format(words=words)], capture_output=True, text=True, timeout=120
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "reidrisk: the studies are a package of their own; install it, in the folder of the source of reidrisk, with: "
        "pip install ./studies\n"
    )


def test_the_package_never_needs_the_studies():
    code = """
import sys
sys.modules["reidrisk_studies"] = None
import reidrisk
for name in reidrisk.__all__:
    getattr(reidrisk, name)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
