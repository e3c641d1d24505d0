"""A study is one decorated function: what the list says is written beside it, and nowhere else."""

import re
from pathlib import Path

import pytest

import reidrisk_studies
from reidrisk.base.errors import OptionError
from reidrisk.base.progress import silent
from reidrisk_studies import study as studies_of
from reidrisk_studies.registry import PAPERS, STUDIES
from reidrisk_studies.results import StudyResult
from reidrisk_studies.study import study

HOME = Path(reidrisk_studies.__file__).parent


@pytest.fixture
def register(monkeypatch):
    """Register studies that are forgotten after the test."""
    monkeypatch.setattr(studies_of, "_REGISTERED", dict(studies_of._REGISTERED))
    return study


def test_the_decorator_names_what_the_function_finds(register):
    @register("jha-fig99", title="Nothing", reference="jha, Figure 99", users=300, seconds=(1.0, 5.0), least=200)
    def figure_99(users, seed, progress):
        return StudyResult(users=users, seed=seed, rows=(), lines=(), x_title="", comparisons=(), assumptions=())

    found = figure_99(250, 7, silent)
    assert (found.name, found.title, found.reference) == ("jha-fig99", "Nothing", "jha, Figure 99")
    assert (found.users, found.seed) == (250, 7)
    known = studies_of.registered()[-1]
    assert (known.size(None), known.estimate(1_000_000)) == (300, 6.0)
    with pytest.raises(OptionError, match="at least 200, not 199"):
        known.size(199)
    with pytest.raises(OptionError, match="two studies named 'jha-fig99'"):
        register("jha-fig99", title="", reference="", users=1, seconds=(0.0, 0.0))(figure_99)


def test_every_module_with_a_study_is_listed():
    listed = {HOME / paper / f"{module}.py" for paper, modules in PAPERS.items() for module in modules}
    decorated = re.compile(r"^@(study|two_sizes)\(", re.MULTILINE)
    assert {path for path in HOME.rglob("*.py") if decorated.search(path.read_text())} == listed


def test_papers_come_in_order_and_figures_by_their_number():
    papers = [name.partition("-")[0] for name in STUDIES]
    assert list(dict.fromkeys(papers)) == list(PAPERS) == sorted(PAPERS, key=papers.index)
    figures = [int(name.removeprefix("jha-fig")) for name in STUDIES if name.startswith("jha-fig")]
    assert figures == list(range(2, 13))


def test_no_title_is_written_twice():
    text = "".join(path.read_text() for path in HOME.rglob("*.py"))
    for known in STUDIES.values():
        title = known.title.removesuffix(", published size")
        assert text.count(f'"{title}"') == 1, known.name
