"""What galozy claims of the trade-off, beside what came out, each with the paired difference it rests on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from reidrisk import bandits
from reidrisk.bandits import Tradeoff, TradeoffPoint
from reidrisk.present.words.bandits import amount_text, strategy_label
from reidrisk.present.words.frequencies import percent, two_digits
from reidrisk_studies.galozy.choices import by_stronger, mixture, price
from reidrisk_studies.galozy.people import People
from reidrisk_studies.galozy.surfaces import COUNTS, LAPLACE, SVD, harmless_variance
from reidrisk_studies.results import Comparison

__all__ = ["claims", "noise_range"]

Surfaces = dict[str, Tradeoff]
Verdict = tuple[str, float, int]
"""Where, at which limit, and whether the claim holds (1), its opposite (-1), or neither beyond the interval (0).

Where only one of the two gets to the limit at all, it is 2 or -2.
"""

_AT_MOST = (0.05, 0.1, 0.2, 0.3, 0.5)
"""Probabilities of de-anonymisation at which the cheapest choices are compared."""


_AGAIN = 20
"""Draws of noise and cells on which a chosen point is measured again."""


def claims(people: People, found: Surfaces) -> tuple[Comparison, ...]:
    """Return the claims of Section 6.3 about one data set."""
    compared = (
        _families(
            found,
            "clusters against one's own record, noise on both",
            "clusters are better (abstract: noise on a single record is worst at any level)",
            _is("clusters"),
            _is("own"),
        ),
        _families(
            found,
            "clusters against neighbours",
            "neighbours are worse than cluster averages",
            _is("clusters"),
            _is("neighbour"),
        ),
        _laplace_against_svd(found),
        _flat(people, found),
        _no_winner(found),
        *noise_range(people, found),
        _averaged(found),
        _stronger(found),
        _clusters_by_stronger(found),
    )
    return tuple(Comparison(c.quantity, c.published, c.ours, people.why(c.why)) for c in compared)


def noise_range(people: People, found: Surfaces) -> tuple[Comparison, ...]:
    """Explain the paper's range of noise: what it does to probabilities, to counts, and from where on it hurts."""
    surface, counted = found[LAPLACE], found[COUNTS]
    own = [p for p in surface.points if p.strategy == "own"]
    first = people.end / 50
    step = min((p for p in own if p.amount > 0), key=lambda p: abs(p.amount - first))
    last = max((p for p in own if p.amount < people.end), key=lambda p: p.amount)
    share = 100 * step.regret.mean / surface.blind_regret
    rows = [
        Comparison(
            f"range of noise: variance 0 to {people.end:g} in 50 steps, on one's own record",
            f"a curve of regret over this range (figure{'s 8 and 9' if people.end > 1 else ' 10'})",
            f"regret {own[0].regret.mean:,.0f} without noise, {_regret(step)} at the first step ({step.amount:.2g}), "
            f"{_regret(last)} at {last.amount:.3g}; blind choice {surface.blind_regret:,.0f}",
            "Cut off at 0, noise of variance v adds W sqrt(v / 8) of leaving to a row whose weights sum to W. That is "
            f"as much as the true leaving from v = {harmless_variance(people.behaviour):.1g} on (median state). "
            + (
                f"So the first step is at {share:.0f} % of blind choice already, and the rest of the range says "
                "nothing: the paper can hardly have put this noise on rows that add up to 1."
                if share > 90
                else "This range lies about it, so it shows a curve."
            ),
        )
    ]
    if people.end > 1:
        rarest = [p for p in counted.points if p.strategy == "own"]
        end = max((p for p in rarest if p.amount < people.end), key=lambda p: p.amount)
        rows.append(
            Comparison(
                "the same range, if noise goes on seconds and counts before rows are normalised",
                "not said",
                f"variance {end.amount:.3g}: regret {_regret(end)}, {percent(end.risk.rate)} found, for "
                f"{rarest[0].regret.mean:,.0f} and {percent(rarest[0].risk.rate)} without noise",
                "Then the printed range makes a trade-off, and the L2 normalisation of Section 6.1 has something to "
                "do: this may be what was run. The range of Fitbit, a ten-thousandth of it, would then do nothing. "
                "Counts are rebuilt from the matrices: the rarest transition of a row counts as one.",
            )
        )
    return tuple(rows)


def _families(
    found: Surfaces,
    quantity: str,
    published: str,
    ours: Callable[[TradeoffPoint], bool],
    theirs: Callable[[TradeoffPoint], bool],
) -> Comparison:
    """Compare the cheapest of two kinds of strategies at several probabilities, run by run."""
    texts: list[str] = []
    verdicts: list[Verdict] = []
    for noise in (LAPLACE, COUNTS):
        points = found[noise].points
        found_here = _compared(noise, [p for p in points if ours(p)], [p for p in points if theirs(p)])
        texts += found_here[0]
        verdicts += found_here[1]
    return Comparison(quantity, published, "; ".join(texts), _verdict(verdicts))


def _compared(
    name: str, ours: Sequence[TradeoffPoint], theirs: Sequence[TradeoffPoint]
) -> tuple[list[str], list[Verdict]]:
    """Return what two kinds of choices cost at each limit, and 1 where ours is cheaper beyond the interval."""
    texts, verdicts = [], []
    for at_most in _AT_MOST:
        a, b = mixture(ours, at_most), mixture(theirs, at_most)
        if a is not None and b is not None:
            low, high = a.minus(b)
            verdict = 1 if high < 0 else -1 if low > 0 else 0
            text = f"{a.mean:,.0f} for {b.mean:,.0f} ({low:+,.0f} to {high:+,.0f})"
        elif a is None and b is None:
            verdict, text = 0, "neither gets there"
        else:
            verdict = 2 if b is None else -2
            text = f"{a.mean:,.0f}, the other never gets there" if a is not None else "never, only the other does"
        verdicts.append((name, at_most, verdict))
        if at_most in (0.1, 0.3):
            texts.append(f"{name}, at most {percent(at_most)} found: {text}")
    return texts, verdicts


def _verdict(verdicts: Sequence[Verdict]) -> str:
    """Say at how many places the claim holds, beyond the interval, and where it does not."""
    limits = ", ".join(percent(a) for a in _AT_MOST)
    held = sum(v == 1 for _, _, v in verdicts)
    text = (
        f"Cheapest choices, or coins between two, at {limits} found, by paired runs: the claim holds beyond the "
        f"interval at {held} of {len(verdicts)} places"
    )
    alone = sum(v == 2 for _, _, v in verdicts)
    if alone:
        text += f", at {alone} more only this kind is ever that safe"
    against = [f"{noise} at {percent(at)}" for noise, at, v in verdicts if v < 0]
    text += f", its opposite at {len(against)} ({', '.join(against)})" if against else ", its opposite at none"
    if held + alone + len(against) < len(verdicts):
        text += "; elsewhere the two cannot be told apart, or nothing is that safe"
    return f"{text}."


def _laplace_against_svd(found: Surfaces) -> Comparison:
    texts: list[str] = []
    verdicts: list[Verdict] = []
    for name, chosen in (("one's own record", _is("own")), ("any strategy", lambda p: True)):
        sides = [[p for p in found[noise].points if chosen(p)] for noise in (LAPLACE, SVD)]
        found_here = _compared(name, sides[0], sides[1])
        texts += found_here[0]
        verdicts += found_here[1]
    why = _verdict(verdicts) + " Without noise and with all singular values the two are the same."
    return Comparison("Laplace noise against truncated SVD", "Laplace clearly outperforms", "; ".join(texts), why)


def _flat(people: People, found: Surfaces) -> Comparison:
    texts = []
    stronger = replace(found[LAPLACE], points=tuple(by_stronger(found[LAPLACE].points)))
    for noise, surface in ((LAPLACE, found[LAPLACE]), (COUNTS, found[COUNTS]), ("mechanism known", stronger)):
        paid = price(surface, 2 * surface.guess)
        if paid is not None:
            again = (
                "" if noise == COUNTS else f"; other draws: {percent(_measured_again(people, surface, paid[1]))} found"
            )
            texts.append(
                f"{noise}: {two_digits(100 * paid[0])} % of the way to blind choice "
                f"({strategy_label(paid[1].strategy)}, {amount_text(paid[1])}, regret {_regret(paid[1])} for "
                f"{surface.least_regret:,.0f}{again})"
            )
    fitbit = people.end < 1
    return Comparison(
        f"price of being found at most twice as often as by a guess ({percent(2 * found[LAPLACE].guess)})",
        "hardly a trade-off" if fitbit else "a trade-off",
        "; ".join(texts),
        "With 4 states an average or some noise keeps most of what an agent needs: how long a state lasts."
        if fitbit
        else "With many states an average of probabilities mixes in uniform rows for states that a user never had.",
    )


def _measured_again(people: People, surface: Tradeoff, point: TradeoffPoint) -> float:
    """Return the rate of a point on draws that had no part in choosing it: the least of many looks safer than it is."""
    users, rates = people.behaviour, []
    for draw in range(_AGAIN):
        strategy = f"{point.strategy}+laplace:{point.amount!r}"
        shared = bandits.anonymise(users.records, strategy, users.profiles, surface.seed, release=1_000 + draw)
        seed = surface.seed + 1 + draw
        risk = bandits.deanonymisation(
            users.records, shared, surface.n_aux, surface.alpha, seed, attack=point.risk.attack, draws=1
        )
        rates.append(risk.rate)
    return float(np.mean(rates))


def _no_winner(found: Surfaces) -> Comparison:
    texts = []
    for noise, surface in found.items():
        names = dict.fromkeys(strategy_label(p.strategy) for p in surface.front())
        texts.append(f"{noise}: {len(names)} strategies on the front ({', '.join(names)})")
    alone = all(len({p.strategy for p in surface.front()}) == 1 for surface in found.values())
    why = (
        "One strategy is never beaten here."
        if alone
        else "No single one is best at all probabilities. The front is of measured values: neighbouring points may "
        "change places within their intervals."
    )
    return Comparison("a strategy that is best everywhere", "none", "; ".join(texts), why)


def _averaged(found: Surfaces) -> Comparison:
    a, b = (next(p for p in found[noise].points if p.strategy == "average") for noise in (COUNTS, LAPLACE))
    gap = bandits.compare(a.regret, b.regret)
    return Comparison(
        "the average of all, of counts and of probabilities, no noise",
        "not said which",
        f"{_regret(a)} for {_regret(b)} (difference {gap.low:+,.0f} to {gap.high:+,.0f}), {percent(a.risk.rate)} and "
        f"{percent(b.risk.rate)} found",
        "A mean of counts weighs people by how much they did, and gives no vote to those who never had a state.",
    )


def _stronger(found: Surfaces) -> Comparison:
    points = [p for p in found[LAPLACE].points if p.strategy == "own" and p.likelihood is not None]
    best = max(points, key=lambda p: p.likelihood.rate - p.risk.rate if p.likelihood is not None else 0.0)
    assert best.likelihood is not None
    return Comparison(
        "a better attacker on one's own record with noise",
        "there may exist better algorithms (Section 7)",
        f"variance {best.amount:.2g}: {percent(best.likelihood.rate)} ({percent(best.likelihood.low)} to "
        f"{percent(best.likelihood.high)}) found for {percent(best.risk.rate)} by the scoreboard",
        "The attacker who knows how the records were changed; where the two differ most.",
    )


def _clusters_by_stronger(found: Surfaces) -> Comparison:
    points = by_stronger(found[LAPLACE].points)
    texts, verdicts = _compared(
        LAPLACE, [p for p in points if _is("clusters")(p)], [p for p in points if _is("own")(p)]
    )
    return Comparison(
        "clusters against one's own record, noise on both, mechanism known",
        "not tried",
        "; ".join(texts),
        _verdict(verdicts) + " Cells whose weight is 0 get no noise and give single records away.",
    )


def _regret(point: TradeoffPoint) -> str:
    return f"{point.regret.mean:,.0f} ({point.regret.low:,.0f} to {point.regret.high:,.0f})"


def _is(word: str) -> Callable[[TradeoffPoint], bool]:
    return lambda point: point.strategy.partition(":")[0] == word
