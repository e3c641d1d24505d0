"""The privacy statement: what protects the people, by how much, and what it does not protect."""

from reidrisk.present.model import Section, Table
from reidrisk.present.terms import Terms
from reidrisk.privacy import PrivacyStatement
from reidrisk.release import Validation


def section(result: Validation, terms: Terms) -> Section:
    """Return the statement of the release; what failed its test is only what is stated."""
    return statement(result.public.statement, terms, believed=not result.failed)


def statement(stated: PrivacyStatement, _terms: Terms, believed: bool = True) -> Section:
    """Return what a privacy statement says, part by part."""
    said = stated.reading if believed else f"As stated, but see the top of this page: {stated.reading}"
    rows = (
        ("Mechanism", stated.mechanism),
        ("Epsilon and delta", f"{stated.epsilon:.6g} and {stated.delta:.3g}"),
        ("Unit of privacy", stated.unit),
        ("Neighbouring data", stated.neighbours),
        ("Accounting", stated.accounting),
        ("Noise of a count (sigma)", ", ".join(f"{name}: {sigma:.4g}" for name, sigma in stated.sigma.items())),
        ("Taken as public", "; ".join(stated.taken_as_public)),
        ("Post-processing", "; ".join(stated.post_processing)),
    )
    filled = tuple(row for row in rows if row[1])
    return Section("Privacy statement", see=said, table=Table(("part", "statement"), filled), name="privacy")
