"""What all studies of jha share: rows, lines, assumptions, and how a rate is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from reidrisk.present import drawing
from reidrisk_studies.jha.people import NOISE, TOP_K, People
from reidrisk_studies.repeated import REPETITIONS, Repeated
from reidrisk_studies.results import Comparison, Row, StudyResult, line

__all__ = [
    "INCORRECT",
    "Found",
    "Key",
    "Run",
    "assumptions",
    "both_personas",
    "curves",
    "in_percent",
    "result",
    "shown_rate",
]

Key = tuple[str, str, float]
"""Population, series, and where on the horizontal axis."""
Found = dict[Key, Repeated]
Run = tuple[int, int, People, Found]
"""Users, seed, who they are, and what came out."""

INCORRECT = "people linked to somebody else"


def shown_rate(found: Repeated, incorrect: bool = False) -> str:
    """Write a rate with its interval in percent.

    Examples
    --------
    >>> shown_rate(Repeated(0.256, 0.248, 0.264, 0.026, 0.023, 0.0295, 0.718, 0.001, 1000, (0.256,)))
    '25.6 % (24.8 to 26.4)'
    """
    if incorrect:
        return in_percent(found.incorrect, found.incorrect_low, found.incorrect_high)
    return in_percent(found.rate, found.low, found.high)


def in_percent(value: float, low: float, high: float) -> str:
    """Write a share with its interval in percent.

    Examples
    --------
    >>> in_percent(0.5, 0.25, 0.75)
    '50 % (25 to 75)'
    """
    return f"{100 * value:.3g} % ({100 * low:.3g} to {100 * high:.3g})"


def both_personas(found: Found, series: str, x: float, incorrect: bool = False) -> str:
    """Write the rates of both models of personas."""
    iid, crossover = (shown_rate(found[model, series, x], incorrect) for model in ("iid", "crossover"))
    return f"{iid} I.I.D., {crossover} crossover"


def curves(
    found: Found, shown: Sequence[tuple[str, str, str]], xs: Sequence[float], incorrect: Sequence[bool] | bool = False
) -> list[drawing.Line]:
    """Return the lines of (population, series, label), four at most, of correct or incorrect links."""
    wrong = [incorrect] * len(shown) if isinstance(incorrect, bool) else incorrect
    drawn = []
    for (model, series, label), style, is_wrong in zip(shown, drawing.ATTACKS, wrong, strict=False):
        points = {}
        for x in xs:
            each = found[model, series, x]
            rates = (each.incorrect, each.incorrect_low, each.incorrect_high)
            points[float(x)] = rates if is_wrong else (each.rate, each.low, each.high)
        drawn.append(line(label, style, points))
    return drawn


def assumptions(people: People) -> tuple[str, ...]:
    """Return what all studies of this paper rest on."""
    return (
        people.note,
        f"Both sites see all users in every epoch, one topic each, of {TOP_K} held, and a random one with probability "
        f"{NOISE:g}, unless stated otherwise; N epochs are N topics, as in the paper's figures (its footnote 10).",
        "Right and wrong links are counted jointly by the definitions of the text (Section 3.3); an empty denoised "
        "profile matches nobody. Series 'as released' count as the authors' code does.",
        f"{REPETITIONS} repetitions with other seeds; the 95 % intervals are the wider of that over users and that "
        "over repetitions. Where the given users are attacked, they are the same in every repetition.",
    )


def result(
    run: Run,
    x: tuple[str, str],
    lines: Sequence[drawing.Line],
    comparisons: Sequence[Comparison],
    y_title: str = "people linked correctly",
    x_log: bool = False,
    x_ticks: tuple[float, ...] = (),
    notes: Sequence[str] = (),
    more: Mapping[Key, Mapping[str, float]] | None = None,
) -> StudyResult:
    """Put a result together.

    Parameters
    ----------
    run : Run
        Users, seed, people and what was found; one row each.
    x : (column, title)
        The horizontal axis, in the rows and in the chart.
    lines, comparisons, y_title, x_log, x_ticks
        As in :class:`StudyResult`; each reason is preceded by whose users these are, where not the authors'.
    notes : sequence of str
        More assumptions.
    more : mapping, optional
        More columns of each row.
    """
    users, seed, people, found = run
    rows: list[Row] = [
        {
            "population": model,
            "series": series,
            x[0]: place,
            **each.columns(),
            **(more[model, series, place] if more else {}),
        }
        for (model, series, place), each in found.items()
    ]
    return StudyResult(
        users=users,
        seed=seed,
        rows=tuple(rows),
        lines=tuple(lines),
        x_title=x[1],
        comparisons=tuple(replace(each, why=people.why(each.why)) for each in comparisons),
        assumptions=(*assumptions(people), *notes),
        y_title=y_title,
        y_linear=True,
        x_log=x_log,
        x_ticks=x_ticks,
    )
