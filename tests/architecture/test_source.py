"""What holds of the source as a whole: a reader can take it in, and nothing is written twice."""

import ast
import tomllib
from collections import Counter, defaultdict
from pathlib import Path

import reidrisk

PACKAGE = Path(reidrisk.__file__).parent
FILES = sorted(PACKAGE.rglob("*.py"))
STUDIES = sorted((PACKAGE.parents[1] / "studies" / "reidrisk_studies").rglob("*.py"))


def name(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


def test_modules_with_a_common_prefix_are_a_package():
    families = Counter(
        (path.parent, path.stem.partition("_")[0]) for path in FILES if "_" in path.stem and path.stem != "__init__"
    )
    assert [f"{name(folder)}/{prefix}_*" for (folder, prefix), n in families.items() if prefix and n > 2] == []


def public_functions(path: Path):
    """Yield the name and the number of parameters of functions and methods, commands among them."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or node.name.startswith("_"):
            continue
        given = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs, node.args.vararg, node.args.kwarg]
        yield node.name, sum(one is not None and one.arg not in ("self", "cls") for one in given)


def test_public_functions_have_at_most_ten_parameters():
    assert STUDIES
    counted = [(path, *found) for path in (*FILES, *STUDIES) for found in public_functions(path)]
    assert [f"{path}: {function}" for path, function, given in counted if given > 10] == [], "take a spec"


def test_a_class_name_has_one_meaning():
    """Names with a leading underscore are read in one module only; these few mean the same wherever they stand."""
    places = defaultdict(list)
    for path in FILES:
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(name(path))
    same = {"Entry", "InMemory"}
    assert {one: where for one, where in places.items() if len(where) > 1 and one not in same} == {}


def test_tests_mirror_the_packages():
    tests = Path(__file__).parents[1]
    packages = {name(path.parent) for path in PACKAGE.rglob("*/__init__.py")}
    untested = {one for one in packages if not list((tests / one).rglob("test_*.py"))}
    assert {one for one in untested if not one.startswith("present/sections")} == set(), "sections have their pages"


def test_every_package_is_under_the_contract_on_sentences():
    settings = tomllib.loads((PACKAGE.parents[1] / "pyproject.toml").read_text("utf-8"))
    contract = next(one for one in settings["tool"]["importlinter"]["contracts"] if one["type"] == "forbidden")
    packages = {f"reidrisk.{path.parent.name}" for path in PACKAGE.glob("*/__init__.py")}
    assert packages - set(contract["source_modules"]) == {"reidrisk.present", "reidrisk.cli"}


def test_no_ten_lines_stand_twice():
    places = defaultdict(list)
    for path in FILES:
        lines = path.read_text("utf-8").splitlines()
        skipped = {
            number
            for node in ast.parse("\n".join(lines)).body
            if isinstance(node, ast.Import | ast.ImportFrom)
            for number in range(node.lineno, node.end_lineno + 1)
        }
        kept = [line.strip() for number, line in enumerate(lines, 1) if number not in skipped and line.strip()]
        for start in range(len(kept) - 9):
            places["\n".join(kept[start : start + 10])].append(name(path))
    assert {lines: where for lines, where in places.items() if len(where) > 1} == {}
