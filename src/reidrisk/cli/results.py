"""Results of audits in files: written when one is done, read back to judge, to compare and to run one again."""

import os
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from reidrisk.base import FormatError
from reidrisk.cli import output
from reidrisk.io.documents import read_json

_INTERNAL = "Internal, not to be passed on: numbers about single people."

_RESULT = typer.Option("--result", help="Write the result here (JSON, for gate).", readable=False)
ResultOut = Annotated[Path | None, _RESULT]


def finish(
    found: Any,
    out: Path | None,
    result: Path | None,
    as_json: bool,
    people: Path | None = None,
    evidence: Path | None = None,
) -> None:
    """Write what was asked for, then print: whatever happens to one of these, the others are done."""
    from reidrisk import present

    def show() -> None:
        output.print_json(found.to_dict()) if as_json else output.show(present.page(found))

    files = [
        (result, partial(output.write_json, found.to_dict())),
        (out, partial(present.write, found)),
        (evidence, partial(present.write_evidence, found)),
        (people, partial(_write_internal, found)),
    ]
    output.do_each(files, show)
    written = {"report": out, "result": result, "evidence": evidence, "internal, about single people": people}
    for what, path in written.items():
        if path is not None:
            output.remark(f"{what}: {path}")


def _write_internal(found: Any, path: Path) -> None:
    """Write what is about single people, for nobody to read but who runs the command."""
    usual = os.umask(0o077)
    try:
        output.write_json({"warning": _INTERNAL, **found.per_person().to_dict()}, path, indent=None)
    finally:
        os.umask(usual)
    if path.is_file():
        path.chmod(0o600)  # a file that was there before kept its permissions


def read_per_person(path: Path) -> Any:
    """Read what an audit kept per person, or refuse the file in one line."""
    from reidrisk.audit import PerPerson

    return _rebuilt(PerPerson, path, "what an audit kept per person (--keep-per-person)")


def read_result(path: Path) -> Any:
    """Read the result of an audit, or refuse the file in one line."""
    from reidrisk.audit import AuditResult

    return _rebuilt(AuditResult, path, "the result of an audit")


def _rebuilt(kind: Any, path: Path, what: str) -> Any:
    try:
        return kind.from_dict(_json(path, what))
    except FormatError as error:
        raise FormatError(str(error) if str(path) in str(error) else f"{path}: {error}") from error


def saved_spec(path: Path) -> tuple[Any, Any]:
    """Return a saved spec, and the fingerprints of its files where a result was saved with them."""
    from reidrisk.audit import AuditSpec

    values = _json(path, "the spec of an audit")
    if "spec" not in values:
        return AuditSpec(**values), None
    found = read_result(path)  # a result holds its spec: either file will do
    return AuditSpec(**found.again), found.fingerprints


def compare_saved(asked: Any, saved: Any, key: bytes | None) -> None:
    """Say which files are not those of a saved audit, or that they cannot be compared."""
    from reidrisk.audit import differing

    if saved is None:
        return
    if saved.method == "hmac-sha256" and key is None:
        output.remark("careful: whether the files are those of the saved audit was not checked (--fingerprint-key)")
        return
    files = {role: getattr(asked.inputs, role, None) for role in saved.sums}
    for role in differing(saved, files, key):
        output.remark(f"careful: the file of the {role} is not the one of the saved audit (another sum)")


def _json(path: Path, what: str) -> dict[str, Any]:
    if not path.exists():
        raise FormatError(f"{path}: there is no such file; it should be {what} (JSON)")
    if not path.is_file():
        raise FormatError(f"{path}: is a folder, a pipe or a device; it should be {what} in a file (JSON)")
    values = read_json(path, what, _refuse_constant)
    if not isinstance(values, dict):
        raise FormatError(f"{path}: this is a JSON {type(values).__name__}, but should be {what}")
    return values


def _refuse_constant(name: str) -> Any:
    raise FormatError(f"the file holds {name}, which is no number of an audit; it was damaged or edited")
