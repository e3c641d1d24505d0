"""Rates with intervals: how often an attack links a query to the right target (carey, Section 3)."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from reidrisk.attacks.base import Attack, Links
from reidrisk.attacks.grouped import Groups
from reidrisk.attacks.pooled import gathered
from reidrisk.attacks.registry import find_attack
from reidrisk.base import (
    ArrayLike,
    Covers,
    DataError,
    Floats,
    Ints,
    Note,
    OptionError,
    Risk,
    between_0_and_1,
    is_whole,
    of_class,
    stream,
    whole,
)
from reidrisk.base.arrays import frozen
from reidrisk.base.intervals import design_effect, mean_interval
from reidrisk.base.streams import seed_or_fresh
from reidrisk.measure import jackknife
from reidrisk.measure.alike import distinct
from reidrisk.measure.jackknife import Gains
from reidrisk.records import Attributes, Truth, find_truth
from reidrisk.search.engines import Engine, find_engine

_SAMPLED = "sampled"


def random_user(
    attack: Attack[Any] | str,
    targets: Any,
    queries: Any,
    truth: ArrayLike | Truth | None = None,
    sample: int | None = None,
    seed: int | None = None,
    level: float = 0.95,
    groups: tuple[ArrayLike, ArrayLike] | None = None,
    engine: Engine | str | None = None,
) -> Risk:
    """Measure the random-user setting: for one record at a time, which of the targets it is.

    rate = (1/q) sum over queries of [truth among the best] / t, where t targets share the best score: the expectation
    over random tie-breaks, not one coin toss. ``covers`` says what its interval allows for. With a sample it is that
    draw of queries. With everyone it is other people like these in both tables, where leaving out each person can be
    followed (:mod:`reidrisk.measure.jackknife`), and otherwise other queries only; nothing is promised where the attack
    asks which queries are unique.

    Targets, on which the attack is fitted here, and queries are what the two observers saw; a list of ``Traces`` is
    pooled, see :func:`reidrisk.attacks.pool`. A query whose user is not among the targets can only be linked wrongly.
    ``truth`` is the target row of each query; default: see :func:`find_truth`. Only a ``sample`` of the queries is
    scored, drawn with ``seed``; the attacker still sees every record. ``groups``, of the targets and of the queries,
    are a fingerprint of each record, see :class:`reidrisk.attacks.Groups`: only targets of the query's group are
    candidates, ties and who is unique are counted there, and a query of a group without target has no answer.
    ``engine`` is where targets are searched (:mod:`reidrisk.search.engines`), by name or value; default: here. It
    changes no answer. The attack may be a name, too, such as ``"bm25"``.
    An attack that weighs all queries against each other (:class:`reidrisk.attacks.Rehearsed`, unless it is told not to)
    is in the matching setting, and ``setting`` of the result says so.

    >>> from reidrisk import Traces, attacks
    >>> a = Traces([[1, 2], [3, 4], [5, 6]], n_tokens=9)
    >>> random_user(attacks.Hamming(), a, a).rate
    1.0
    """
    between_0_and_1("level", level)
    targets, queries = gathered(targets), gathered(queries)
    known, engine = find_truth(targets, queries, truth), find_engine(engine)
    attack = find_attack(attack, targets)
    if len(targets) < 2:
        raise DataError("there is only 1 target, so every query is linked to it; give at least 2 users to choose from")
    rows, used = chosen_queries(len(queries), sample, seed)
    if groups is not None:
        parts = checked_groups(groups, len(targets), len(queries))
        return _within(attack, targets, queries, known, rows, used, level, parts, engine)
    asked = queries if rows is None else queries.take(rows)
    target = known.target if rows is None else known.target[rows]
    attack.fit(targets).look_around(queries)
    links = linked(attack, asked, engine)
    return risk_of_links(attack, targets, asked, links, Truth(target, known.origin), rows is None, used, level)


def curve(
    attack: Attack[Any] | str,
    targets: Any,
    queries: Any,
    epochs: Iterable[int] | int,
    truth: ArrayLike | Truth | None = None,
    sample: int | None = None,
    seed: int | None = None,
    level: float = 0.95,
    groups: tuple[ArrayLike, ArrayLike] | None = None,
    engine: Engine | str | None = None,
) -> tuple[Risk, ...]:
    """Measure the random-user setting at several numbers of epochs, on the same queries.

    Each time only the first epochs are looked at, and nothing is learnt from later ones; everything else is as for
    :func:`random_user`.

    >>> from reidrisk import Traces, attacks
    >>> a = Traces([[1, 2], [1, 4], [5, 6]], n_tokens=9)
    >>> [round(risk.rate, 2) for risk in curve(attacks.Hamming(), a, a, epochs=(1, 2))]
    [0.67, 1.0]
    """
    between_0_and_1("level", level)
    counts: Any = (epochs,) if is_whole(epochs) else epochs
    of_class("epochs", counts, Iterable, "numbers of epochs, such as (1, 2, 4)")
    targets, queries = gathered(targets), gathered(queries)
    known, engine = find_truth(targets, queries, truth), find_engine(engine)
    attack = find_attack(attack, targets)
    for table in (targets, queries):
        if not hasattr(table, "epochs"):
            raise DataError(f"{type(table).__name__} have no epochs to grow by; measure them whole with random_user")
    used = seed if sample is None else seed_or_fresh(seed)
    return tuple(
        random_user(attack, targets.epochs(r), queries.epochs(r), known, sample, used, level, groups, engine)
        for r in counts
    )


def chosen_queries(n: int, sample: int | None, seed: int | None) -> tuple[Ints | None, int | None]:
    """Draw which queries to score; ``None`` means all of them, and then no seed is used."""
    if sample is None or whole("sample", sample, unit="queries") >= n:
        return None, None
    used = seed_or_fresh(seed)
    return np.sort(stream(used, "sample queries").choice(n, size=sample, replace=False, shuffle=False)), used


def linked(attack: Attack[Any], queries: Any, engine: Engine | None, **options: Any) -> Links:
    """Link the queries, here or where the engine searches; rows of attributes that are equal are asked once."""
    if engine is not None:  # attacks of others need not know of engines here
        options["engine"] = engine
    if not isinstance(queries, Attributes) or not type(attack).__module__.startswith("reidrisk."):
        return attack.link(queries, **options)
    first, kind = distinct(queries, attack)
    found = attack.look_around(queries).link(queries.take(first), **options)
    sure = None if found.probability is None else found.probability[kind]
    return Links(found.target[kind], found.score[kind], found.n_ties[kind], sure)


def credits(attack: Attack[Any], queries: Any, links: Links, truth: Ints) -> Floats:
    """Return the probability of a right link for each query: 1/t if the truth is among the t best, else 0."""
    known = np.flatnonzero((truth >= 0) & (links.target >= 0))
    credit = np.zeros(len(links))
    if known.size:
        asked = queries if known.size == len(links) else queries.take(known)
        among = attack.score(asked, truth[known]) == links.score[known]
        credit[known[among]] = 1.0 / links.n_ties[known[among]]
    return credit


def _within(
    attack: Attack[Any],
    targets: Any,
    queries: Any,
    known: Truth,
    rows: Ints | None,
    seed: int | None,
    level: float,
    groups: Groups,
    engine: Engine | None,
) -> Risk:
    """Measure with candidates of the query's own group alone; the attack learns from all targets."""
    chosen = np.arange(len(queries)) if rows is None else rows
    scored = np.zeros(len(queries), dtype=np.bool_)
    scored[chosen] = True
    place = np.zeros(len(targets), dtype=np.int64)  # of a target within its group
    chance = guessed(groups, known)
    credit, gain, why_not = np.zeros(len(queries)), np.zeros(len(targets)), "" if rows is None else _SAMPLED
    answered, ties = (np.zeros(len(queries), dtype=np.int64) for _ in range(2))
    attack.fit(targets)
    for target_rows, query_rows in groups.parts():
        asked = query_rows[scored[query_rows]]
        if not asked.size:
            continue
        place[target_rows] = np.arange(len(target_rows))
        view = attack.narrowed(target_rows).look_around(queries.take(query_rows))
        part = queries.take(asked)
        links = linked(view, part, engine)
        own = np.where(chance[asked] > 0.0, place[known.target[asked]], -1)
        credit[asked] = credits(view, part, links, own)
        answered[asked], ties[asked] = links.target >= 0, links.n_ties
        if not why_not:
            more, why_not = jackknife.gains(view, part, links, own, credit[asked], len(target_rows))
            gain[target_rows] += 0.0 if more is None else more
    truth = Truth(known.target[chosen], known.origin)
    asked_of = queries if rows is None else queries.take(rows)
    gains = Gains(None if why_not else gain, why_not)
    silent = 1.0 - float(answered[chosen].mean())
    risk = risk_of(credit[chosen], silent, attack, targets, asked_of, truth, level, rows is None, gains)
    return replace(
        risk,
        baseline=float(chance[chosen].mean()),
        mean_ties=float(ties[chosen].mean()),
        seed=seed,
        notes=(*_notes(truth, risk, gains.why_not), groups_note(groups, chosen)),
    )


def guessed(groups: Groups, known: Truth) -> Floats:
    """Return how likely each query is linked rightly to a random target of its group."""
    same = (known.target >= 0) & (groups.query >= 0) & (groups.target[known.target] == groups.query)
    return np.where(same, 1.0 / np.maximum(groups.sizes[groups.query], 1), 0.0)


def groups_note(groups: Groups, chosen: Ints) -> Note:
    """Return that only targets of a query's own group were candidates: how many groups, and how large."""
    sizes = np.where(groups.query >= 0, groups.sizes[groups.query], 0)[chosen]
    return Note("within-groups", groups=int((groups.sizes > 0).sum()), mean=float(sizes.mean()))


def checked_groups(groups: tuple[ArrayLike, ArrayLike], n_targets: int, n_queries: int) -> Groups:
    """Return numbered groups with a label for each record, or say which table has too few or too many."""
    if not isinstance(groups, tuple | list) or len(groups) != 2:
        raise OptionError("groups must be a pair: the groups of the targets and those of the queries")
    found = Groups.of(*groups)
    for what, labels, n in (("targets", found.target, n_targets), ("queries", found.query, n_queries)):
        if len(labels) != n:
            raise DataError(f"there are {len(labels):,} groups for {n:,} {what}; give one for each")
    return found


def risk_of_links(
    attack: Attack[Any],
    targets: Any,
    queries: Any,
    links: Links,
    truth: Truth,
    everyone: bool,
    seed: int | None,
    level: float,
) -> Risk:
    """Turn the links of the scored queries into a :class:`Risk`."""
    credit = credits(attack, queries, links, truth.target)
    gains = Gains(None, _SAMPLED)
    if everyone:
        gains = jackknife.gains(attack, queries, links, truth.target, credit, len(targets))
    risk = risk_of(credit, float(np.mean(links.target < 0)), attack, targets, queries, truth, level, everyone, gains)
    return replace(risk, mean_ties=float(links.n_ties.mean()), seed=seed, notes=_notes(truth, risk, gains.why_not))


def risk_of(
    credit: Floats,
    abstained: float,
    attack: Attack[Any],
    targets: Any,
    queries: Any,
    truth: Truth,
    level: float,
    everyone: bool,
    gains: Gains,
) -> Risk:
    """Return the rate of these credits with its interval, its baseline and the sizes, in whatever setting."""
    rate, credit = float(credit.mean()), np.clip(credit, 0.0, 1.0)
    covers: Covers = "none" if everyone and attack.compares_queries else "queries"
    # Whoever has several queries, drawn or all of them, may be found by all or by none: people count, not queries.
    crowd = effect = jackknife.queries_per_person(truth.target)
    without = None if gains.by_target is None else jackknife.rates_without(credit, gains.by_target, truth.target)
    if without is not None:
        covers, effect = "people", max(crowd, design_effect(credit, jackknife.variance(without)))
        frozen(without)
    low, high = mean_interval(credit, level, effect)
    return Risk(
        rate=rate,
        low=low,
        high=high,
        incorrect=max(0.0, 1.0 - rate - abstained),
        abstained=abstained,
        baseline=float(np.mean(truth.target >= 0)) / len(targets),
        n_targets=len(targets),
        n_queries=len(queries),
        attack=attack.name,
        setting=attack.setting,
        n_epochs=getattr(queries, "n_epochs", 0),
        level=level,
        everyone=everyone,
        per_user=frozen(credit),
        covers=covers,
        design_effect=effect,
        queries_per_person=crowd,
        rates_without=without,
    )


def _notes(truth: Truth, risk: Risk, why_not: str) -> tuple[Note, ...]:
    """Return what a rate rests on and for whom its interval is; ``why_not`` is why that is not people like these."""
    scored = Note("everyone-scored") if risk.everyone else Note("sample-scored", n=risk.n_queries, level=risk.level)
    notes = [Note("truth", origin=truth.origin), scored]
    strangers = int(np.sum(truth.target < 0))
    if strangers:
        notes.append(Note("strangers-scored", n=strangers))
    if risk.covers == "people":
        notes.append(Note("covers-people", level=risk.level))
    elif risk.covers == "none":
        notes.append(Note("covers-nothing"))
    elif risk.everyone:
        notes.append(Note("covers-records", why=why_not or "one-person", level=risk.level))
    return (*notes, Note("gaffke-conjectured"))
