"""The command line; thin: it parses, calls, prints."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import NoReturn

__all__ = ["main"]

_INTERRUPTED = "interrupted; files that were not complete were not written"


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and leave with its exit code.

    0 done, 1 a gate failed, 2 bad input or usage, 3 a gate is undecided, 70 a bug in the program, 130 interrupted,
    141 the reader of the output went away.
    """
    from typer import Abort
    from typer.exceptions import TyperException

    from reidrisk.cli.app import app
    from reidrisk.errors import ReidRiskError

    try:
        code = app(args=arguments, prog_name="reidrisk", standalone_mode=False)
        if sys.stdout is not None:  # it is None where standard output was closed from the start
            sys.stdout.flush()
    except TyperException as error:
        context = getattr(error, "ctx", None)
        command = context.command_path if context is not None else "reidrisk"
        message = error.format_message() if hasattr(error, "format_message") else str(error)
        _leave(f"{message.rstrip('.')}. See '{command} --help'.", 2)
    except ReidRiskError as error:
        _leave(str(error), 2)
    except BrokenPipeError:
        _gone()
    except SystemExit as left:
        # Typer leaves with 1 when a reader has gone away, which would read as a failed gate.
        if isinstance(left.__context__, BrokenPipeError):
            _gone()
        raise
    except OSError as error:
        what = error.strerror or str(error)
        _leave(f"{error.filename}: {what}" if error.filename else what, 2)
    except (KeyboardInterrupt, Abort):
        _leave(_INTERRUPTED, 130)
    except MemoryError as error:
        _leave(f"there is not enough memory for this: {error}; try fewer records, --sample, or a smaller vocabulary", 2)
    except Exception as error:
        if os.environ.get("REIDRISK_DEBUG"):
            raise
        _leave(f"this is a bug: {type(error).__name__}: {error} (set REIDRISK_DEBUG=1 to see where)", 70)
    else:
        if code == 130:  # some versions of typer turn an interrupt into this code
            _leave(_INTERRUPTED, 130)
        raise SystemExit(code if isinstance(code, int) else 0)


def _leave(message: str, code: int) -> NoReturn:
    with suppress(OSError):  # the exit code is told even where nobody listens
        print("reidrisk: " + " ".join(message.split()), file=sys.stderr)
    _let_go()
    raise SystemExit(code)


def _gone() -> NoReturn:
    _let_go()
    raise SystemExit(141) from None


def _let_go() -> None:
    """Give out what was printed; where nobody takes it, keep Python from failing over it again when it ends."""
    for stream in filter(None, (sys.stdout, sys.stderr)):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
