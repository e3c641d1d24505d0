"""FLoC over several weeks: k-anonymous cohorts, and the sequences of them that name people."""

from __future__ import annotations

from dataclasses import replace

from reidrisk import Risk, Traces, attacks, bounds, cohorts, measure
from reidrisk.base.progress import Progress, Steps
from reidrisk.present import drawing
from reidrisk.present.words.frequencies import percent
from reidrisk_studies.floc.weekly_histories import weekly_histories
from reidrisk_studies.jha.audiences import seen, visits
from reidrisk_studies.results import Comparison, Row, StudyResult, line
from reidrisk_studies.study import study

__all__ = ["USERS", "weeks"]

USERS = 100_000
WEEKS = (1, 2, 3, 4, 6, 8)
LATER = (1, 2, 4)
K = 2_000
_SAMPLE = 2_000


@study(
    "floc-weeks",
    title="FLoC: cohorts of several weeks name people",
    reference="floc, Introduction (k-anonymity)",
    users=USERS,
    seconds=(5.0, 350.0),
)
def weeks(users: int, seed: int, progress: Progress) -> StudyResult:
    """Link people by their cohorts of 1 to 8 weeks, each cohort k-anonymous for k = 2,000 in every week.

    Three ways to meet: both sites meet everyone every week and receive the same cohorts; each site meets a person in
    half of the weeks, drawn apart; the second site meets people in the weeks after the first.

    Parameters
    ----------
    users : int
        Synthetic people. With fewer than 20,000 of them, k is a tenth of their number.
    seed : int
        Of the people and their visits.
    progress : callable
        Called with what is done.
    """
    k = min(K, users // 10)
    steps = Steps(progress, 12.0 + 3.0 * len(WEEKS) + 8.0)
    steps.begin(f"draw {users:,} people", 8.0)
    histories = weekly_histories(users, WEEKS[-1], seed)
    steps.begin("compute their cohorts", 4.0)
    found = cohorts.weekly_cohorts(histories, k)
    del histories
    traces, sample = found.traces, min(_SAMPLE, users // 10)
    came = [visits(users, WEEKS[-1], 2.0, seed, site) for site in ("site 1", "site 2")]
    halves = [seen(traces, came=each) for each in came]
    risks: list[tuple[str, int, Risk]] = []
    for r in WEEKS:
        steps.begin(f"{r} weeks", 3.0)
        both = traces.epochs(r)
        risks.append(("same weeks", r, measure.random_user(attacks.Hamming(), both, both)))
        one, two = (half.epochs(r) for half in halves)
        for attack in (attacks.Hamming(), attacks.WeightedHamming(1, 0.0)):
            risks.append(("half of the weeks", r, measure.random_user(attack, one, two, sample=sample, seed=seed)))
    steps.begin("lasting interests", 8.0)
    for r in LATER:
        first, then = (Traces(part, traces.n_tokens) for part in (traces.tokens[:, :r], traces.tokens[:, r : 2 * r]))
        bayes = attacks.ProfileBayes()
        risks.append(("weeks after", r, measure.random_user(bayes, first, then, sample=2 * sample, seed=seed)))
    risks = [(how, r, replace(risk, per_user=None)) for how, r, risk in risks]
    stays = float((traces.tokens[:, 0] == traces.tokens[:, 1])[traces.tokens[:, 0] >= 0].mean())
    bound = bounds.from_k_anonymity(min(found.k))
    return StudyResult(
        users=users,
        seed=seed,
        rows=tuple(_row(how, r, risk, min(found.k)) for how, r, risk in risks),
        lines=(
            line("Same weeks", drawing.ATTACKS[0], _points(risks, "same weeks", "Hamming")),
            line("Half of them", drawing.ATTACKS[1], _points(risks, "half of the weeks", "WeightedHamming")),
            line("Weeks after", drawing.ATTACKS[2], _points(risks, "weeks after", "ProfileBayes")),
            line("Bound 1/k", drawing.BOUND, {1: (bound,) * 3}),
            line("Blind guessing", drawing.GUESSING, dict.fromkeys(WEEKS, (1.0 / users,) * 3)),
        ),
        x_title="weeks observed",
        comparisons=_compared(risks, min(found.k), stays, len(found.table)),
        assumptions=(
            f"{users:,} synthetic people with lasting interests and favourite sites; a cohort is made of one week.",
            f"{found.reading} One table serves all weeks; who visits fewer than 7 sites in a week has no cohort in it.",
            "Same weeks: every site receives the same cohort, everyone visits both sites every week, all were scored. "
            f"Otherwise {sample:,} people drawn at random were scored among all, {2 * sample:,} where weeks differ.",
            "The bound 1/k (carey, Lemma 7) is about a single week. Nothing follows from it for two.",
        ),
    )


def _points(risks: list[tuple[str, int, Risk]], how: str, attack: str) -> dict[int, tuple[float, float, float]]:
    return {r: (risk.rate, risk.low, risk.high) for kind, r, risk in risks if kind == how and risk.attack == attack}


def _row(how: str, r: int, risk: Risk, k: int) -> Row:
    return {
        "sites meet people in": how,
        "attack": risk.attack,
        "weeks": r,
        "rate": risk.rate,
        "low": risk.low,
        "high": risk.high,
        "baseline": risk.baseline,
        "targets": risk.n_targets,
        "queries": risk.n_queries,
        "bound of one week": bounds.from_k_anonymity(k) if r == 1 and how == "same weeks" else 1.0,
    }


def _compared(risks: list[tuple[str, int, Risk]], k: int, stays: float, n_cohorts: int) -> tuple[Comparison, ...]:
    def rate(how: str, attack: str, r: int) -> str:
        risk = next(risk for kind, at, risk in risks if (kind, at, risk.attack) == (how, r, attack))
        return f"{percent(risk.rate)} ({percent(risk.low)} to {percent(risk.high)})"

    claim = "'protects users from reidentification', for large k"
    return (
        Comparison(
            "people linked by one week's cohort",
            f"{claim}: at most 1/k = {percent(bounds.from_k_anonymity(k))}",
            rate("same weeks", "Hamming", 1),
            f"The bound holds. {n_cohorts} cohorts tell few people apart, and those without a cohort not at all.",
        ),
        Comparison(
            "people linked by four and by eight weeks' cohorts",
            "not measured",
            f"{rate('same weeks', 'Hamming', 4)}, {rate('same weeks', 'Hamming', 8)}",
            "Each cohort is k-anonymous, the sequence is not: cohorts to the power of the weeks outnumber the people.",
        ),
        Comparison(
            "the same where each site meets a person in half of the weeks",
            "not measured",
            f"{rate('half of the weeks', 'WeightedHamming', 4)}, {rate('half of the weeks', 'WeightedHamming', 8)} "
            f"weighted; {rate('half of the weeks', 'Hamming', 8)} plain, eight weeks",
            "Two sites then have a quarter of the weeks in common; rare cohorts count more.",
        ),
        Comparison(
            "the same with four weeks, and the four weeks after them",
            "not measured",
            rate("weeks after", "ProfileBayes", 4),
            f"Only what lasts can link different weeks, and of these people {percent(stays)} have the same cohort in "
            "the next week. Real people may be steadier.",
        ),
    )
