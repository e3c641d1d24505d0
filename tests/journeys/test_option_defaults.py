"""A command that lists its options by itself gives them the defaults of its spec."""

import pytest
import typer.main

from reidrisk.audit import AuditSpec, Published, Tables
from reidrisk.bench import BenchSpec
from reidrisk.cli.app import app

COMMANDS = typer.main.get_command(app).commands
LISTED = [("audit", AuditSpec), ("audit", Tables), ("demo", Published), ("bench", BenchSpec)]


@pytest.mark.parametrize(("command", "spec"), LISTED, ids=lambda case: getattr(case, "__name__", case))
def test_options_have_the_defaults_of_the_spec(command, spec):
    options = {option.name: option for option in COMMANDS[command].params}
    shared = set(options) & set(spec.model_fields)
    assert len(shared) > 1
    for name in shared - {"inputs"}:
        field = spec.model_fields[name]
        if not field.is_required():
            assert options[name].default == field.default, name
