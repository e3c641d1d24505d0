"""Disclosure control: one pass over a finished result, after which no number in it tells of a few people.

Shown numbers must not be subtracted either: thresholds cut people into cells, groups leave a rest, and each cell and
each rest holds nobody or at least ``min_group`` people. The same goes for those in it who were linked rightly, and for
those who were not. Whatever fails is left out and counted. The sizes of the tables and the rates of everybody are
always there.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from reidrisk.audit.probability_check import ProbabilityCheck, ThresholdCheck
from reidrisk.audit.result import AuditResult
from reidrisk.audit.truth_doubt import TruthDoubt
from reidrisk.base import Note, mean_interval
from reidrisk.measure import Choosiness, Exposure, Group

_CUTS = (0.9, 0.5, 0.1, 0.01, 0.2, 0.001)
_SURE = (0.9, 0.5, 0.99, 0.1, 0.95, 0.8, 0.2, 0.7, 0.3, 0.6, 0.4, 0.05, 0.01, 0.001)
"""Thresholds of risk, and of how sure an attack is, the most wanted first: of two that exclude each other it stays."""

_SEEN = ("rarest-item", "rarest-holders")
_EVERYONE = ("periods-observed", "items-held", "visits-seen")
"""Traits whose groups together are those who have anything in their record, and those that are everybody."""

_COUNTS = {
    "equivalence-classes": ("alone",),
    "without-pair": ("n",),
    "in-one-table-only": ("targets", "queries"),
    "strangers-scored": ("n",),
    "truth-in-doubt": ("close",),
    "nothing-on-one-side": ("unasked", "left_out"),
    "too-few-facts": ("n",),
    "known-with-fewer": ("n",),
}
"""Notes that count people, and where."""


def suppress(result: AuditResult) -> AuditResult:
    """Leave out whatever tells of fewer people than the spec's ``min_group``, and note how much that is.

    With ``min_group=1`` nothing is left out: the result is marked internal (:attr:`AuditResult.internal`).
    """
    if result.internal:
        return result
    least = int(result.spec["min_group"])
    spread = None if result.exposure is None else exposure(result.exposure, least, float(result.spec["level"]))
    rehearsals = tuple(_check(one, least) for one in result.rehearsals)
    shown = curve(result.choosiness, result.n_choosy, least)
    if not result.risks:  # how sure an attack is, is said with its check beside it, or not at all
        checked = {point.threshold for one in rehearsals if one.attack == result.choosy_attack for point in one.points}
        shown = tuple(point for point in shown if point.threshold in checked)
    notes = tuple(note_of_few(note, least) for note in result.notes)
    groups = 0 if spread is None else spread.hidden_groups
    thresholds = len(result.choosiness) - len(shown)
    if groups or thresholds:
        notes += (Note("left-out", groups=groups, thresholds=thresholds, least=least),)
    return replace(
        result,
        exposure=spread,
        rehearsals=rehearsals,
        choosiness=shown,
        choosy_attack=result.choosy_attack if shown else None,
        n_choosy=result.n_choosy if shown else 0,
        truth_doubt=None if result.truth_doubt is None else _doubt(result.truth_doubt, least),
        notes=notes,
        risks=tuple(replace(one, notes=tuple(note_of_few(note, least) for note in one.notes)) for one in result.risks),
    )


def few(people: float, min_group: int) -> bool:
    """Whether there are some, but fewer than ``min_group``; credits of ties add up to fractions of people.

    >>> few(0, 20), few(0.3, 20), few(19, 20), few(20, 20)
    (False, True, True, False)
    """
    return 1e-6 < people < min_group - 1e-6


def cuts_to_show(cells: Sequence[Mapping[float, float]], totals: Sequence[float], least: int) -> bool:
    """Whether thresholds may be shown together: every cell between two of them holds nobody, or enough people.

    ``cells`` say how many are beyond each threshold, of everybody, of those linked rightly, and of those who were not;
    ``totals`` how many of each there are in all.

    Of 33 people 32 are above one half: that would tell of the one who is not.

    >>> cuts_to_show([{0.1: 33, 0.9: 0}], [33], 20), cuts_to_show([{0.1: 33, 0.5: 32}], [33], 20)
    (True, False)
    """
    counts = ([n, *(beyond[cut] for cut in sorted(beyond)), 0.0] for beyond, n in zip(cells, totals, strict=True))
    return not any(few(more - fewer, least) for one in counts for more, fewer in pairwise(one))


def exposure(found: Exposure, least: int, level: float = 0.95) -> Exposure:
    """Join bins of risk, and small groups of a trait, until none holds only a few people, or leave them out."""
    counts = [round(part * found.n) for _, _, part in found.histogram]
    beyond = {low: sum(counts[i:]) for i, (low, _, _) in enumerate(found.histogram) if i}
    cuts: list[float] = []
    for cut in sorted(beyond, key=_CUTS.index):
        if cuts_to_show([{one: beyond[one] for one in (*cuts, cut)}], [found.n], least):
            cuts.append(cut)
    edges = [0.0, *sorted(cuts), 1.0]
    left = [found.n, *(beyond[cut] for cut in edges[1:-1]), 0]
    bins = tuple((edges[i], edges[i + 1], (left[i] - left[i + 1]) / found.n) for i in range(len(edges) - 1))
    above = {name: part for name, part in found.above.items() if any(name == f"{100 * cut:g}" for cut in cuts)}
    groups = tuple(_groups(found.groups, least, level))
    told = {group.trait for group in groups if group.level == "other"} | {(g.trait, g.level) for g in groups}
    hidden = found.hidden_groups + sum(not {g.trait, (g.trait, g.level)} & told for g in found.groups)
    return replace(found, above=above, histogram=bins, groups=groups, min_group=least, hidden_groups=hidden)


def curve(points: Sequence[Choosiness], n: int, least: int) -> tuple[Choosiness, ...]:
    """Leave out points of a curve of choosiness, measured on n people, that would set a few of them apart."""
    known = {point.threshold: point for point in points}
    first = known.get(0.0)
    kept: list[float] = []
    for threshold in sorted(set(known) - {0.0}, key=_SURE.index):
        tried = [known[one] for one in (*kept, threshold)]
        cells = [{point.threshold: point.answered * n for point in tried}]
        totals: list[float] = [n]
        # To answer always, or never, tells nothing of right and wrong beyond the rate of everybody.
        telling = [point for point in tried if 0.0 < point.answered < 1.0]
        if first is not None and first.correct is not None and first.incorrect is not None and telling:
            cells.append({point.threshold: (point.correct or 0.0) * n for point in telling})
            cells.append({point.threshold: (point.incorrect or 0.0) * n for point in telling})
            totals += [first.correct * n, first.incorrect * n]
        if cuts_to_show(cells, totals, least):
            kept.append(threshold)
    return tuple(known[one] for one in sorted({*kept, *({0.0} & set(known))}))


def _groups(groups: Sequence[Group], least: int, level: float) -> Iterable[Group]:
    """Yield the groups to show: of each trait the largest, until what is left is nobody or enough; then the others.

    Who holds an item may hold others, so these groups overlap: each is held against everybody.
    """
    traits: dict[str, list[Group]] = {}
    for group in groups:
        traits.setdefault(group.trait, []).append(group)
    # Who was never seen is in no group of rarity; how many were seen at all follows from the other trait.
    seen = _first_of(traits, _SEEN)
    everyone = _first_of(traits, _EVERYONE) or seen
    for trait, members in traits.items():
        shown = [group for group in members if not any(few(part, least) for part in _people([group]))]
        if trait == "holds-item":
            rests = ([a - b for a, b in zip(everyone, _people([group]), strict=False)] for group in shown)
            apart = zip(shown, rests, strict=True)
            yield from (group for group, rest in apart if rest and not any(few(part, least) for part in rest))
            continue
        shown.sort(key=lambda group: -group.n)
        while shown:
            rest = [a - b for a, b in zip(everyone, _people(shown), strict=True)]
            inside = _people([group for group in shown if (group.trait in _SEEN or group.level != "0")])
            rest += [a - b for a, b in zip(seen, inside, strict=False)]
            if not any(few(part, least) for part in rest):
                break
            shown.pop()
        yield from (group for group in members if group in shown)
        hidden = [group for group in members if group not in shown]
        # The others together, where that does not tell how few people are in no group of this trait.
        if shown and hidden and not any(few(a - b, least) for a, b in zip(everyone, _people(members), strict=True)):
            n, right, _ = _people(hidden)
            each = np.repeat([1.0, 0.0], [round(right), round(n) - round(right)])
            yield Group(hidden[0].trait, "other", round(n), right / n, *mean_interval(each, level))


def _first_of(traits: Mapping[str, Sequence[Group]], names: Sequence[str]) -> tuple[float, ...]:
    """Return how many people are in the groups of the first of these traits that there is."""
    return next((_people(traits[name]) for name in names if name in traits), ())


def _people(groups: Sequence[Group]) -> tuple[float, ...]:
    """Return how many people are in some groups, were linked rightly, and were not; nothing for no group."""
    if not groups:
        return ()
    n, right = sum(group.n for group in groups), sum(group.rate * group.n for group in groups)
    return n, right, n - right


def _check(check: ProbabilityCheck, least: int) -> ProbabilityCheck:
    points = () if check.n_people < least else (_threshold(point, check.n_people, least) for point in check.points)
    return replace(check, points=tuple(point for point in points if point is not None))


def _threshold(point: ThresholdCheck, n_people: int, least: int) -> ThresholdCheck | None:
    """Leave out what few links, few right or wrong ones among them, or few strangers are behind."""
    n = round((point.answered or 0.0) * n_people)
    if n < least:
        return None
    strangers = n_people - n_people // 2
    reached = round((point.strangers or 0.0) * strangers)
    if few(reached, least) or few(strangers - reached, least):
        point = replace(point, strangers=None)
    if few(n_people - n, least):
        point = replace(point, answered=None)
    right = (point.right or 0.0) * n
    if few(right, least) or few(n - right, least):
        point = replace(point, right=None, low=None, high=None)
    return point


def _doubt(doubt: TruthDoubt, least: int) -> TruthDoubt:
    n = doubt.n_close or 0
    if n < least:
        return replace(doubt, n_close=None, wrong=None, low=0.0)
    return replace(doubt, wrong=None, low=0.0) if few(n * (1.0 - (doubt.wrong or 0.0)), least) else doubt


def note_of_few(note: Note, least: int) -> Note:
    """Return a note without the numbers in it that tell of fewer people than ``least``."""
    if note.code == "export-read":
        return Note.from_dict({**note.to_dict(), "people": _steps(note["people"], least)})
    hidden = {name: None for name in _COUNTS.get(note.code, ()) if few(note[name] or 0, least)}
    return Note.from_dict({**note.to_dict(), **hidden, "least": least}) if hidden else note


def _steps(people: Sequence[Sequence[int]], least: int) -> list[list[int]]:
    """Leave out how many people have a number of events where that is a few, and one more where it would follow."""
    hidden = [step for step, n in people if few(n, least)]
    shown = [[step, n] for step, n in people if step not in hidden]
    if shown and 0 < sum(n for step, n in people if step in hidden) < least:
        shown.remove(min(shown, key=lambda one: one[1]))
    return shown
