"""The documentation runs, its links lead somewhere, and its lists of names and options are complete."""

import importlib
import inspect
import json
import re
import runpy
import tomllib
from pathlib import Path
from types import ModuleType

import pytest
import tables
import typer
from pages import PAGES, ROOT, Runner, blocks

import reidrisk
from reidrisk import attacks, mechanisms
from reidrisk.cli.app import app

DOCS = ROOT / "docs"
RUNNABLE = [page for page in PAGES if any(b.language in ("python", "pycon", "py", "console") for b in blocks(page))]
MODULES = [name for name in reidrisk.__all__ if isinstance(getattr(reidrisk, name), ModuleType)]
MENU = typer.main.get_command(app)
COMMANDS = {
    f"{menu} {name}" if menu else name: command
    for menu, group in [("", MENU), *((name, c) for name, c in MENU.commands.items() if hasattr(c, "commands"))]
    for name, command in group.commands.items()
    if not hasattr(command, "commands")
}


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.fixture(autouse=True)
def registries(monkeypatch):
    """What a page registers is gone after it."""
    for registry in (attacks.registry, mechanisms.registry):
        known = registry.__globals__["_REGISTRY"]
        monkeypatch.setattr(known, "_entries", dict(known._entries))


def release(folder: Path) -> None:
    """Leave a small file like those of the public Topics release, for pages that convert one."""
    from reidrisk.io.tfrecord.example import make_example
    from reidrisk.io.tfrecord.framing import write_frames

    records = [
        {"user_id": [i], "epoch_0_topics": [i, i + 1, i + 2, 7, 8], "epoch_1_topics": [i, i + 3, i + 4, 7, 9]}
        for i in range(10, 30)
    ]
    for record in records:
        record |= {f"epoch_{t}_weights": [1.0] * 5 for t in range(2)}
    write_frames(folder / "topics.tfrecord", [make_example(record) for record in records])


@pytest.mark.parametrize("page", RUNNABLE, ids=name)
def test_every_block_of_a_page_runs_and_prints_what_it_says(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if "topics.tfrecord" in page.read_text(encoding="utf-8"):
        release(tmp_path)
    runner = Runner(page, tmp_path)
    for block in blocks(page):
        runner.run(block)


@pytest.mark.parametrize("script", sorted((ROOT / "examples").glob("*.py")), ids=name)
def test_every_example_runs(script, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", [str(script)])
    runpy.run_path(str(script), run_name="__main__")
    assert capsys.readouterr().out.strip()


def test_the_notebook_runs_and_shows_its_result(tmp_path, monkeypatch):
    """Cell by cell, in one namespace; the value of a cell's last line is what a notebook shows."""
    monkeypatch.chdir(tmp_path)
    told, names = [], {}
    for cell in json.loads((ROOT / "examples" / "first_look.ipynb").read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            assert cell["outputs"] == [], "outputs are made by whoever runs it"
            before, _, last = "".join(cell["source"]).rpartition("\n")
            exec(before, names)
            told.append(eval(last, names))
    frame, result, rows, answer = told
    assert "<strong>" in result._repr_html_()
    assert (len(frame), len(rows), rows["rate"].max()) == (5, 5, result.strongest.rate)
    assert answer.startswith("fail")


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_link_to_a_file_of_ours_leads_somewhere(page):
    for target in re.findall(r"\]\(([^)\s#]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        if not re.match(r"[a-z]+:", target):
            assert (page.parent / target).exists(), f"{name(page)} links to {target}, which is not there"


def test_every_page_is_in_the_navigation():
    listed = set(re.findall(r"[\w/.-]+\.md", (ROOT / "mkdocs.yml").read_text(encoding="utf-8")))
    assert listed == {str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md")}


def test_commands_for_people_exist():
    """`make` targets and extras named anywhere are those of the Makefile and of pyproject.toml."""
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    extras = set(tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"])
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        assert set(re.findall(r"`make ([a-z]+)", text)) <= targets, name(page)
        for block in blocks(page):
            assert set(re.findall(r"^(?:\$ )?make ([a-z]+)", block.text, re.MULTILINE)) <= targets, name(page)
        for given in re.findall(r"(?:reidrisk|\.)\[([a-z,]+)\]", text):
            assert set(given.split(",")) <= extras, name(page)


def signature(value: object) -> str:
    """Return the parameters as the reference pages write them: names and defaults, no types."""
    if not callable(value) or (inspect.isclass(value) and (issubclass(value, Exception) or inspect.isabstract(value))):
        return ""
    found = inspect.signature(value)
    plain = [
        parameter.replace(annotation=inspect.Parameter.empty, kind=inspect.Parameter.POSITIONAL_OR_KEYWORD)
        for parameter in found.parameters.values()
        if parameter.kind in (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    ]
    shown = ", ".join(p.name if p.default is p.empty or inspect.isclass(value) else str(p) for p in plain)
    return f"({shown})"


def listed(page: Path) -> dict[str, str]:
    """Return name and parameters of every first cell of a reference page's tables."""
    cells = re.findall(r"^\| `(\w+)(\([^`]*\))?` \|", page.read_text(encoding="utf-8"), re.MULTILINE)
    return dict(cells)


@pytest.mark.parametrize("module", MODULES)
def test_every_public_name_is_in_the_reference_with_its_parameters(module):
    package = importlib.import_module(f"reidrisk.{module}")
    page = DOCS / "reference" / f"{module}.md"
    stated = listed(page)
    assert set(stated) == set(package.__all__), f"{name(page)} lists other names than reidrisk.{module}.__all__"
    for public, parameters in stated.items():
        value = getattr(package, public)
        if inspect.isfunction(value):
            assert parameters == signature(value), f"{name(page)}: {public}"


def test_the_table_of_attacks_is_the_registry():
    assert tables.attack_table() == tables.BETWEEN.search(tables.PAGE.read_text(encoding="utf-8"))[0]


def test_the_types_page_lists_what_the_package_exports():
    stated = listed(DOCS / "reference" / "types.md")
    exported = {n for n in reidrisk.__all__ if n not in MODULES and n != "__version__"}
    assert set(stated) == exported | set(importlib.import_module("reidrisk.base.errors").__all__)


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_the_command_line_page_lists_every_option_and_default(command):
    text = (DOCS / "reference" / "cli.md").read_text(encoding="utf-8")
    section = re.search(rf"^## `reidrisk {command}\b.*?(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    assert section, f"cli.md has no section for {command}"
    rows = re.findall(r"^\| `(-?-?[\w-]+)[^`]*` \| ([^|]*) \|", section[0], re.MULTILINE)
    stated = {first: default.strip().strip("`") for first, default in rows}
    wanted = {}
    for parameter in COMMANDS[command].params:
        default = "required" if parameter.required else parameter.default
        shown = "" if default is None or default is False else f"{default}"
        wanted[parameter.opts[0] if parameter.opts[0].startswith("-") else parameter.name.upper()] = shown
    assert stated == wanted


def test_the_menu_on_the_command_line_page_is_the_real_one():
    text = (DOCS / "reference" / "cli.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^## `reidrisk ([a-z]+(?: [a-z]+)?)", text, re.MULTILINE)) == set(COMMANDS)


def test_the_citation_file_is_well_formed():
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert text.startswith("cff-version: 1.2.0\n")
    assert f"version: {reidrisk.__version__}" in text
    assert text.count("  - type: ") == 5, "five papers"
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"## [{reidrisk.__version__}]" in changes
