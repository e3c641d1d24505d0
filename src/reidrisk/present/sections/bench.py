"""Sections of the page of a benchmark: the leaderboard, the best of each setting, every rate, the data."""

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from reidrisk.bench import Bench, Row, Standing, Used
from reidrisk.bench.result import CALIBRATED, ENOUGH
from reidrisk.present import Cell, Section, Table, Terms, words
from reidrisk.present.sections.written import written
from reidrisk.present.words.bench import points
from reidrisk.present.words.frequencies import attack_label, two_digits

Key = TypeVar("Key")


def leaderboard(found: Bench, terms: Terms) -> Section | None:
    """Return who loses how much to the best of each setting; of data held back first, where there is such data."""
    if not found.rows:
        return None
    kinds = {row.held_back for row in found.rows}
    titles = {True: "Leaderboard: data on which nothing was chosen", False: "Leaderboard: all other data"}
    both = [(titles[kind], found.standings(kind)) for kind in (True, False) if kind in kinds]
    first, *rest = both if len(kinds) > 1 else [("Leaderboard", found.standings())]
    parts = tuple(Section(title, table=_standings(part), console=True) for title, part in rest)
    said = {"title": first[0], "enough": ENOUGH, "calibrated": CALIBRATED}
    return written("bench.leaderboard", terms, said, table=_standings(first[1]), parts=parts, console=True)


def _standings(standings: Sequence[Standing]) -> Table:
    names = ("attack", "settings", "not beaten", "points lost", "at most", "probabilities hold", "foreseen", "seconds")
    rows = tuple(
        (
            attack_label(one.attack),
            f"{one.settings:,}",
            f"{one.unbeaten:,}",
            points(one.mean_behind),
            Cell(points(one.most_behind), ", ".join(one.where) if one.most_behind > 0.0 else ""),
            f"{one.held} of {one.judged}" if one.judged else "",
            f"{one.foreseen} of {one.guessed}" if one.guessed else "",
            two_digits(one.seconds),
        )
        for one in standings
    )
    return Table(names, rows, tuple(range(1, 8)))


def best(found: Bench, terms: Terms) -> Section | None:
    """Return the best attack of each data set and setting."""
    rows = []
    for (data, setting), group in _grouped(found.rows, lambda row: (row.data, row.setting)).items():
        ranked = sorted(group, key=lambda row: -row.rate)
        first, equal = ranked[0], sum(not row.is_beaten for row in ranked) - 1
        name, sizes = Cell(data, setting), f"{first.n_queries:,} of {first.n_targets:,}"
        rows.append((name, sizes, attack_label(first.attack), _rate(first), points(first.baseline), f"{equal:,}"))
    if not rows:
        return None
    names = ("data", "scored, of", "best attack", "people found per 100", "by guessing", "others not beaten")
    return Section("The best of each setting", table=Table(names, tuple(rows), (1, 3, 4, 5)), console=True, name="best")


def rates(found: Bench, terms: Terms) -> Section | None:
    """Return every attack in every setting, a part for each data set."""
    parts = tuple(
        Section(
            data,
            parts=tuple(map(_setting, _grouped(rows, lambda row: row.setting).values())),
            folded=True,
            name=f"rates-{data}",
        )
        for data, rows in _grouped(found.rows, lambda row: row.data).items()
    )
    return written("bench.rates", terms, parts=parts) if parts else None


def _grouped(rows: Iterable[Row], by: Callable[[Row], Key]) -> dict[Key, list[Row]]:
    """Put rows together, in the order in which the groups come first."""
    groups: dict[Key, list[Row]] = {}
    for row in rows:
        groups.setdefault(by(row), []).append(row)
    return groups


def _setting(rows: list[Row]) -> Section:
    names: tuple[str, ...] = ("attack", "people found per 100", "behind the best", "said", "calibration error")
    names += ("expected", "seconds")
    ranked = sorted(rows, key=lambda row: -row.rate)
    lines = tuple(map(_line, ranked))
    if any(row.assigned for row in rows):
        names += ("one to one",)
        lines = tuple((*line, _assigned(row)) for line, row in zip(lines, ranked, strict=True))
    table = Table(names, lines, tuple(range(1, len(names))))
    return Section(rows[0].setting, table=table, name=f"rates-{rows[0].data}-{rows[0].setting}")


def _line(row: Row) -> tuple[str | Cell, ...]:
    gap = "" if row.behind <= 0.0 else f"{points(row.behind_low)} to {points(row.behind_high)}"
    said = error = ""
    if row.calibration is not None:
        said, error = points(row.calibration.said), points(row.calibration.excess, signed=True)
    label = attack_label(row.attack) + (" (all records together)" if row.together else "")
    name = Cell(label, tag="" if row.is_beaten else "not beaten")
    guess = "" if row.expected is None else f"{points(row.expected.low)} to {points(row.expected.high)}"
    return (name, _rate(row), Cell(points(row.behind), gap), said, error, guess, two_digits(row.seconds))


def _assigned(row: Row) -> str | Cell:
    if row.assigned is None:
        return ""
    behind = f"{points(row.assigned.behind_low)} to {points(row.assigned.behind_high)} behind"
    return Cell(points(row.assigned.rate), behind)


def _rate(row: Row) -> Cell:
    return Cell(points(row.rate), f"{points(row.low)} to {points(row.high)}")


def left_out(found: Bench, terms: Terms) -> Section | None:
    """Return what was not run, and why."""
    rows = tuple((words.sentence(note, terms),) for note in found.left_out)
    return Section("Left out", table=Table(("what and why",), rows), console=True, listed=True) if rows else None


def _source(one: Used) -> tuple[str, str, str]:
    return "no" if one.held_back else "yes", one.origin, one.licence


def data(found: Bench, terms: Terms) -> Section | None:
    """Return the data sets that were used."""
    names = ("data", "what", "people", "different items", "events", "chosen on", "published by", "licence")
    rows = tuple(
        (one.name, one.what, *(f"{n:,}" for n in (one.people, one.items, one.events)), *_source(one))
        for one in found.used
    )
    return Section("The data", table=Table(names, rows, (2, 3, 4))) if rows else None
