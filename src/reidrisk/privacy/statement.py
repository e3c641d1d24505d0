"""The privacy statement: what protects the people in the data; it travels in the metadata of every output."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from reidrisk.base import FormatError, Spoken
from reidrisk.privacy.accounting import check_budget


@dataclass(frozen=True, eq=False)
class PrivacyStatement(Spoken):
    """What was protected, by how much and by what; a result, so it prints and round-trips to JSON.

    >>> statement = PrivacyStatement(mechanism="discrete Gaussian noise", epsilon=1.0, delta=1e-9)
    >>> statement.after("a model was fitted").post_processing
    ('a model was fitted',)
    """

    mechanism: str  # distribution of the noise, and where its randomness came from
    epsilon: float
    delta: float
    simulation: bool = False
    """Whether the noise was for trying out, seeded or floating-point: such an output protects nobody."""
    unit: str = "one user with all their sets"
    neighbours: str = "adding or removing one user"
    budget: str = ""  # how it was shared among tables: "joint" or "split"
    sigma: Mapping[str, float] = field(default_factory=dict)  # parameter of the noise of each table of counts
    sensitivity: Mapping[str, float] = field(default_factory=dict)  # l2 sensitivity of each table
    accounting: str = ""  # how the noise follows from the budget
    taken_as_public: tuple[str, ...] = ()  # what the statement does not protect
    post_processing: tuple[str, ...] = ()  # what was computed from the noisy counts alone; it costs no further budget

    def to_dict(self) -> dict[str, Any]:
        """Return plain values and the sentence they amount to, for whoever opens the file; it is not read back."""
        return {**super().to_dict(), "reading": self.reading}

    def after(self, *steps: str) -> PrivacyStatement:
        """Return the statement of something computed from this output alone (post-processing)."""
        return dataclasses.replace(self, post_processing=(*self.post_processing, *steps))

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Rebuild a statement, or refuse one whose numbers are none: a reader would believe them."""
        found = super().from_dict(values)
        # Answers under local privacy have no delta.
        check_budget(found.epsilon, 0.5 if found.delta == 0.0 else found.delta)
        for name in ("sigma", "sensitivity"):
            for table, value in getattr(found, name).items():
                if not 0.0 < value < 1e300:
                    raise FormatError(f"{name} of {table} is {value!r}, not a finite number above 0")
        return found

    @classmethod
    def from_document(cls, name: str, document: Any) -> Self:
        """Read the statement of the file ``name``; without one, say so and refuse."""
        if not isinstance(document, Mapping):
            raise FormatError(f"{name}: it has no privacy statement; a release is only read with the one it came with")
        try:
            return cls.from_dict(document)
        except (TypeError, ValueError, OverflowError, AttributeError) as error:
            raise FormatError(f"{name}: its privacy statement is damaged ({error}); write the file again") from error


# What dick, Section 4.2 states of the published statistics; nothing of it was checked here.
PUBLISHED = PrivacyStatement(
    mechanism="Gaussian noise",
    epsilon=1.0986122886681098,
    delta=1e-15,
    budget="split",
    accounting="as stated by its authors: 25, 25 and 50 % of the budget for f11, f22 and f12 (dick, Section 4.2)",
    post_processing=("statistics normalised by their authors",),
)
