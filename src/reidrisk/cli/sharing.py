"""`reidrisk bandits serve` and `attack`: the sharing service, and the adversary who measures it from outside."""

from pathlib import Path
from typing import Any

import typer

from reidrisk.bandits.service.spec import ServiceSpec
from reidrisk.base.extras import require
from reidrisk.base.specs import as_flag
from reidrisk.cli import output
from reidrisk.cli.groups import takes
from reidrisk.cli.parameters import Json, Seed, argument, option


@takes(ServiceSpec)
def serve(
    database: str = option("sqlite:///sharing.db", "Where records are kept: sqlite:///FILE or postgresql://…"),
    administrator: Path | None = option(
        None, "File of the administrator's token, made if missing; default: beside a SQLite database."
    ),
    host: str = option("127.0.0.1", "Address to listen on."),
    port: int = option(8642, "Port to listen on; 0: any free one."),
    behind_tls: bool = option(
        False, "A proxy encrypts all that arrives; permits addresses beyond this machine.", "--behind-tls"
    ),
    **options: Any,
) -> None:
    """Let agents join, share what they learnt, and receive what fits them; until Ctrl-C."""
    from reidrisk.bandits.service.run import serve as run

    spec = ServiceSpec.called(as_flag, **options)
    if not 0 <= port <= 65_535:
        raise typer.BadParameter(f"{port} is no port; give 0 to 65535")
    run(
        spec,
        database,
        administrator,
        host=host,
        port=port,
        behind_tls=behind_tls,
        page=_page(),
        ready=lambda url: output.say(f"serving {spec.strategy} at {url}"),
    )


def _page() -> Any:
    """Return what writes the administrator's page, where its libraries are installed."""
    from reidrisk.base.errors import MissingExtraError

    try:
        for module in ("altair", "vl_convert", "jinja2"):
            require(module, "report", "the administrator's page")
    except MissingExtraError as missing:
        output.remark(f"careful: {missing}")
        return None
    from reidrisk.present.pages.sharing import written

    return written


def attack(
    url: str = argument(..., "Address of a service of yours, such as http://127.0.0.1:8642."),
    people: Path = option(..., "NPZ file of members: records, profiles, and users named by their agents' ids."),
    administrator: Path = option(..., "File of the administrator's token: an attack is scored by its owner."),
    codes: Path | None = option(None, "File of enrolment codes, one per line, each good for one identity."),
    tokens: Path | None = option(None, "File of tokens of identities that joined before, one per line."),
    guises: int = option(10, "Metadata profiles to ask under."),
    known_cells: int | None = option(None, "Cells known of each person; default: 91, or all but 2."),
    repository: Path | None = option(None, "Keep the known cells here (JSON), add to them, and use them all."),
    seed: Seed = None,
    as_json: Json = False,
) -> None:
    """Join a service of yours under many guises, collect matrices, and measure how many people they give away."""
    from reidrisk import bandits as api
    from reidrisk.base.streams import seed_or_fresh
    from reidrisk.present.pages.adversary import page

    members = api.read_matrices(people)
    seed = seed_or_fresh(seed)
    known = None
    if repository is not None:
        known = api.Repository.read(repository) if repository.exists() else api.Repository()
    admin = api.Client(url, _lines(administrator)[0])
    identities = [api.Client(url, token) for token in _lines(tokens)]
    for code in _lines(codes):
        identities.append(api.Client(url))
        identities[-1].join(code)
    truth = admin.call("GET", "/admin/membership")
    with output.progress_bar() as say:
        found = api.adversary(identities, members, guises, truth, known_cells, seed, progress=say, repository=known)
    if repository is not None and known is not None:
        known.write(repository)
    output.show(page(found), found.to_dict(), as_json)


def backup(
    file: Path = argument(..., "Where to write the copy; it must not exist."),
    database: str = option("sqlite:///sharing.db", "The SQLite database of a service, running or not."),
) -> None:
    """Copy the SQLite database of a service as it is now, while the service goes on."""
    require("sqlalchemy", "serve", "the sharing service")
    from reidrisk.bandits.service.storage.database import Database

    store = Database(database)
    try:
        store.backup(file)
    finally:
        store.close()
    output.remark(f"written: {file}")


def _lines(path: Path | None) -> list[str]:
    """Return the lines of a file of secrets; what they say is never repeated."""
    if path is None:
        return []
    from reidrisk.base.errors import FormatError
    from reidrisk.io.tables import existing_file

    text = existing_file(path).read_text("ascii", errors="replace")
    found = [line.strip() for line in text.splitlines() if line.strip()]
    if not found:
        raise FormatError(f"{path} is empty; give one token or code per line")
    return found
