"""The command line; thin: it parses, calls, prints."""

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import NoReturn

__all__ = ["main"]

_INTERRUPTED = "interrupted; files that were not complete were not written"
_LONG = 400  # characters of a word that an error line prints whole


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and leave with its exit code.

    0 done, 1 a gate failed, 2 bad input or usage, 3 a gate is undecided, 70 a bug in the program, 129 hung up,
    130 interrupted, 141 the reader of the output went away, 143 terminated.
    """
    from reidrisk.cli.stopping import stop_signals  # before all that takes long to import

    came: list[int] = []
    try:
        with stop_signals(came):
            _run_masked(arguments, came)
    except BaseException as error:  # of imports too, where a library may make anything of an interrupt
        if isinstance(error, SystemExit) and came:  # it has said its line
            raise SystemExit(_stopped_code(came)) from None
        if isinstance(error, KeyboardInterrupt) or came:
            _leave(_INTERRUPTED, _stopped_code(came))
        raise


def _run_masked(arguments: list[str] | None, came: list[int]) -> NoReturn:
    from reidrisk.base.foreign import MASK_VARIABLE

    asked = os.environ.get(MASK_VARIABLE)
    try:
        _run(arguments, came)
    finally:  # --mask-ids is for this run alone
        if asked is None:
            os.environ.pop(MASK_VARIABLE, None)
        else:
            os.environ[MASK_VARIABLE] = asked


def _run(arguments: list[str] | None, came: list[int]) -> NoReturn:
    from typer import Abort
    from typer.exceptions import TyperException

    from reidrisk.base.errors import MissingExtraError, OptionError, ReidRiskError
    from reidrisk.base.foreign import mask_wanted, masked, reason
    from reidrisk.base.options import spelt
    from reidrisk.cli.app import app
    from reidrisk.cli.parameters import flag

    def hidden(message: str) -> str:
        """Mask what may come from the data, where that was asked for."""
        return masked(message, sys.argv[1:] if arguments is None else arguments) if mask_wanted() else message

    try:
        with spelt(flag):
            code = _called(app, arguments, came)
        if sys.stdout is not None:  # it is None where standard output was closed from the start
            sys.stdout.flush()
    except TyperException as error:
        context = getattr(error, "ctx", None)
        command = context.command_path if context is not None else "reidrisk"
        message = error.format_message() if hasattr(error, "format_message") else str(error)
        _leave(f"{message.rstrip('.')}. See '{command} --help'.", 2)
    except (OptionError, MissingExtraError) as error:  # these speak of the command line, never of the data
        _leave(str(error), 2)
    except ReidRiskError as error:
        _leave(hidden(str(error)), 2)
    except BrokenPipeError:
        _gone()
    except SystemExit as left:
        # Typer leaves with 1 when a reader has gone away, which would read as a failed gate.
        if isinstance(left.__context__, BrokenPipeError):
            _gone()
        raise
    except OSError as error:
        what = error.strerror or str(error)
        _leave(hidden(f"{error.filename}: {what}" if error.filename else what), 2)
    except (KeyboardInterrupt, Abort):
        _leave(_INTERRUPTED, _stopped_code(came))
    except MemoryError as error:
        _leave(f"there is not enough memory for this: {error}; try fewer records, --sample, or a smaller vocabulary", 2)
    except Exception as error:
        if os.environ.get("REIDRISK_DEBUG"):
            raise
        kind, said = type(error).__name__, reason(error)
        what = kind if said == kind else f"{kind}: {said}"
        _leave(f"this is a bug: {what} (set REIDRISK_DEBUG=1 to see where)", 70)
    if came or code == 130:  # some versions of typer turn an interrupt into this code
        _leave(_INTERRUPTED, _stopped_code(came))
    raise SystemExit(code if isinstance(code, int) else 0)


def _called(app: Callable[..., object], arguments: list[str] | None, came: list[int]) -> object:
    """Call the command; whatever a library made of the interrupt of a signal is that interrupt again."""
    try:
        return app(args=arguments, prog_name="reidrisk", standalone_mode=False)
    except BaseException as error:
        if came and not isinstance(error, KeyboardInterrupt):
            raise KeyboardInterrupt from error
        raise


def _stopped_code(came: list[int]) -> int:
    return 128 + came[0] if came else 130


def _leave(message: str, code: int) -> NoReturn:
    from reidrisk.base.foreign import printable

    words = (word if len(word) <= _LONG else f"{word[:80]}… ({len(word):,} characters)" for word in message.split())
    with suppress(OSError):  # the exit code counts even where nobody listens
        print("reidrisk: " + printable(" ".join(words)), file=sys.stderr)
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
