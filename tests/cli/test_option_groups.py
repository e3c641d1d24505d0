"""Options in groups: what the command line shows, and what a command is handed."""

from dataclasses import FrozenInstanceError
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from reidrisk.cli.groups import group, grouped, plain
from reidrisk.cli.parameters import Json, argument, option


@group
class Size:
    width: int = option(2, "How wide.")
    height: float | None = option(None, "How high.", "--tall")


@group
class Picture:
    file: Path = argument(..., "Where to.")
    size: Size
    layer: list[str] | None = option(None, "Layer; repeatable.")
    title: str = option(..., "What is said above.")


HANDED = []
app = typer.Typer()


@app.command()
@grouped
def draw(
    context: typer.Context,
    frame: bool = option(False, "With one.", "--frame"),
    *,
    picture: Picture,
    as_json: Json = False,
) -> None:
    """Draw a picture."""
    HANDED.append((frame, picture, as_json))


@app.command()
def listed(
    context: typer.Context,
    file: Path = argument(..., "Where to."),
    title: str = option(..., "What is said above."),
    frame: bool = option(False, "With one.", "--frame"),
    width: int = option(2, "How wide."),
    height: float | None = option(None, "How high.", "--tall"),
    layer: list[str] | None = option(None, "Layer; repeatable."),
    as_json: Json = False,
) -> None:
    """Draw a picture."""


def run(*words):
    return CliRunner().invoke(app, ["draw", *words])


def test_a_command_is_handed_its_groups():
    done = run("a.png", "--title", "A year", "--tall", "1.5", "--layer", "sea", "--layer", "land", "--json")
    assert done.exit_code == 0
    expected = Picture(file=Path("a.png"), size=Size(height=1.5), layer=["sea", "land"], title="A year")
    assert HANDED.pop() == (False, expected, True)


def test_options_of_groups_are_those_of_a_command_that_lists_them():
    commands = typer.main.get_command(app).commands
    by_name = [{one.name: one for one in commands[name].params} for name in ("draw", "listed")]
    assert list(by_name[0]) == ["frame", "file", "width", "height", "layer", "title", "as_json"]
    assert set(by_name[0]) == set(by_name[1])
    for name, one in by_name[0].items():
        other = by_name[1][name]
        for what in ("opts", "secondary_opts", "help", "default", "required", "multiple", "param_type_name"):
            assert getattr(one, what, None) == getattr(other, what, None), (name, what)


@pytest.mark.parametrize("words", [["a.png"], ["--title", "A year"], ["a.png", "--title", "A year", "--width", "wide"]])
def test_what_a_group_needs_or_cannot_be_is_refused_before_the_command(words):
    assert run(*words).exit_code == 2
    assert HANDED == []


def test_a_group_is_frozen_and_has_the_defaults_of_its_options():
    size = Size()
    assert plain(size) == {"width": 2, "height": None}
    with pytest.raises(FrozenInstanceError):
        size.width = 3
    with pytest.raises(TypeError, match="title"):
        Picture(file=Path("a.png"), size=size)


def test_an_option_that_two_groups_have_is_refused():
    def twice(one: Size, two: Size) -> None:
        """Take two of a kind."""

    with pytest.raises(ValueError, match="duplicate parameter name: 'width'"):
        grouped(twice)
