"""The command that a page names under "run it again"."""

from __future__ import annotations

import shlex

import typer


def again(context: typer.Context, *command: str, left_out: tuple[str, ...] = ()) -> str:
    """Return the command that was given: its words, its arguments, then every option that was not left at its default.

    ``left_out`` names options that do not matter for the page, or that the caller adds.
    """
    arguments, options = [], []
    for parameter in context.command.params:
        value = context.params.get(str(parameter.name))
        # 0 == False: a number of 0 was asked for, a switch that is off was not.
        missing = value is None or value is False or value in ((), []) or value == parameter.default
        if parameter.name in left_out or missing:
            continue
        if parameter.param_type_name == "argument":
            arguments.append(str(value))
        elif value is True:
            options.append(parameter.opts[0])
        else:
            for one in value if isinstance(value, list | tuple) else [value]:
                options += [parameter.opts[0], str(one)]
    return shlex.join(["reidrisk", *command, *arguments, *options])
