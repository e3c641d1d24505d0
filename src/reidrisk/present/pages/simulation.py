"""The page of a simulation: what observers would have seen of browsing histories."""

from typing import Any

from reidrisk.present.model import Page, Section, Sentence, Table

_COVERAGE = ("coverage", "topics", "no topic", "unknown", "not a host", "of")


def page(found: dict[str, Any]) -> Page:
    """Return the page of what ``simulation.json`` holds."""
    epochs = found["epochs"]
    when = (
        f"{epochs['n']} epochs of {epochs['days']:g} days, one every {epochs['step_days']:g}, "
        f"from {epochs['first_starts']} to {epochs['last_ends']}; "
        f"{found['n_visits_outside']:,} visits in none of them."
    )
    covered = ((what, found["coverage"][what]) for what in ("visits", "hosts"))
    shares = ((what, *(f"{share:.1%}" for share in of["shares"].values()), f"{of['n']:,}") for what, of in covered)
    seen = ((one["site"], one["file"], f"{one['missing_share']:.1%}") for one in found["observers"])
    assumed = tuple((sentence,) for sentence in (*found["assumptions"], f"Seed {found['seed']}."))
    return Page(
        kind="A simulation of the Topics API",
        subject="",
        verdict=Sentence(found["reading"]),
        sections=(
            Section("", table=Table(_COVERAGE, tuple(shares)), console=True, name="coverage"),
            Section("", table=Table(("observer", "file", "missing"), tuple(seen)), console=True, name="observers"),
            Section("When it was seen", when, console=True),
            Section("What was assumed", table=Table(("assumption",), assumed), console=True, listed=True),
        ),
    )
