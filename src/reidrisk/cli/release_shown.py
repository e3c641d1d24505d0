"""What `reidrisk release` prints of everything it makes: the privacy statement."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.table import Table

from reidrisk.cli import output

if TYPE_CHECKING:
    from reidrisk.release import PrivacyStatement

__all__ = ["print_release"]


def print_release(
    statement: PrivacyStatement, values: dict[str, Any], told: str, following: str, as_json: bool
) -> None:
    """Print what was made, what protects the people behind it, and the command that may follow."""
    if as_json:
        output.print_json({**values, "privacy": statement.to_dict()})
        return
    screen = output.console()
    screen.print(f"\n{told}", highlight=False)
    table = Table("privacy", "", show_header=False)
    table.add_row("in one sentence", statement.reading)
    table.add_row("mechanism", statement.mechanism)
    table.add_row("epsilon, delta", f"{statement.epsilon:.6g}, {statement.delta:.3g}")
    table.add_row("unit", f"{statement.unit}; neighbours: {statement.neighbours}")
    if statement.sigma:
        table.add_row("noise of a count", ", ".join(f"{name} {sigma:.4g}" for name, sigma in statement.sigma.items()))
    table.add_row("taken as public", "; ".join(statement.taken_as_public) or "nothing")
    table.add_row("post-processing", "; ".join(statement.post_processing) or "none")
    screen.print(table)
    if following:
        output.say("", "Now try:", "", f"  {following}")
