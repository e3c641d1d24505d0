"""Dick et al.: synthetic users against the people they stand for, Figures 5 (distinct topics) and 6 (attacks)."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from reidrisk import populations
from reidrisk.base.progress import Progress, Steps
from reidrisk.present import drawing
from reidrisk.present.words.frequencies import attack_label
from reidrisk.records import TopSets
from reidrisk.release import RateComparison, compare_rates
from reidrisk.release.validate.internal import distinct_tokens
from reidrisk_studies.dick.releases import (
    ASSUMED,
    EPOCHS,
    FULL_SIZE,
    fitted,
    people,
    public_release,
    size_of,
    with_fits,
)
from reidrisk_studies.results import Comparison, Row, StudyResult, line
from reidrisk_studies.study import study

__all__ = ["figure_5", "figure_6"]

QUERIES = 10_240
OBSERVED = (1, 2, 4)

_PADDED = "Synthetic sets that came out short are padded once per user and week with random topics, as a browser does."


@study(
    "dick-fig5",
    title="DP release: distinct topics over four weeks",
    reference="dick, Figure 5",
    users=1_000_000,
    seconds=with_fits(5.0, 12.0),
)
def figure_5(users: int, seed: int, progress: Progress) -> StudyResult:
    """How many distinct topics people have over four weeks, real and synthetic (dick, Figure 5)."""
    size = size_of(users)
    steps = Steps(progress, 10.0)
    steps.begin(f"draw {users:,} users, fit {size.types} types", 9.0)
    real, model = people(users, seed), fitted(users, seed)
    steps.begin("draw synthetic users and compare", 1.0)
    raw = model.sample(users, seed)
    found = distinct_tokens(real, raw.padded(seed), seed)
    short = distinct_tokens(real, raw, seed)
    counts = range(1, len(found.real) + 1)
    rows: list[Row] = [
        {"distinct topics": count, "real": a, "synthetic": b, "synthetic, not padded": c}
        for count, a, b, c in zip(counts, found.real, found.synthetic, short.synthetic, strict=True)
    ]
    drawn = []
    for name, style, shares in (
        ("Real", drawing.ATTACKS[1], found.real),
        ("Synthetic", drawing.ATTACKS[0], found.synthetic),
    ):
        points = {count: (share, share, share) for count, share in zip(counts, shares, strict=True) if count >= 4}
        drawn.append(line(name, replace(style, band=False), points))
    means = [sum(c * s for c, s in zip(counts, shares, strict=True)) for shares in (found.real, found.synthetic)]
    why = (
        "The model sees pairs of neighbouring weeks only. A type says what its users like, not how long: given the "
        "type, weeks are independent, so over four weeks its users show more distinct topics than people who keep "
        f"favourites, as ours do; fewer types, more so. {size.summary()}."
    )
    return StudyResult(
        users=users,
        seed=seed,
        rows=tuple(rows),
        lines=tuple(drawn),
        x_title="distinct topics over four weeks",
        y_title="share of people",
        y_linear=True,
        comparisons=(
            Comparison(
                "correlation of the two distributions",
                "89 %",
                f"{100 * found.correlation:.1f} % ({100 * found.low:.1f} to {100 * found.high:.1f}); without padding "
                f"{100 * short.correlation:.1f} %",
                why + " The paper does not say whether its sets were padded.",
            ),
            Comparison(
                "mean number of distinct topics, real and synthetic",
                "not printed",
                f"{means[0]:.2f} and {means[1]:.2f}; the two disagree on {100 * found.distance:.1f} % of people",
                why,
            ),
        ),
        assumptions=(*ASSUMED, _PADDED, "The interval resamples users; which model was fitted is not in it."),
    )


@study(
    "dick-fig6",
    title="DP release: re-identification of real and of synthetic users",
    reference="dick, Figure 6",
    users=1_000_000,
    seconds=with_fits(10.0, 30.0, fits=3, fits_at_full_size=10),
    data=("topics-release",),
)
def figure_6(users: int, seed: int, progress: Progress) -> StudyResult:
    """Both Hamming attacks and ProfileBayes on real and on synthetic users, trial by trial (dick, Figure 6)."""
    size = size_of(users)
    progress(f"draw {users:,} users", 0.0)
    real = people(users, seed)

    def synthetic(trial: int, public: bool) -> TopSets:
        return populations.mixture(fitted(users, seed, trial, public), users, seed * size.trials + trial)

    sources = ["published population"] + ["public release"] * (public_release() is not None)
    found: dict[str, tuple[RateComparison, ...]] = {}
    for number, source in enumerate(sources):

        def say(stage: str, share: float, done: int = number) -> None:
            progress(stage, (done + share) / len(sources))

        found[source] = compare_rates(
            real,
            partial(synthetic, public=source == "public release"),
            trials=size.trials,
            queries=min(QUERIES, users),
            epochs=OBSERVED,
            seed=seed,
            progress=say,
        )
    return StudyResult(
        users=users,
        seed=seed,
        rows=tuple(_row(source, rate, kind) for source in found for rate in found[source] for kind in _KINDS),
        lines=_lines(found["published population"], users),
        x_title="number of epochs observed",
        comparisons=_compared(found, users, size.summary(), size.trials),
        assumptions=(
            *ASSUMED,
            _PADDED,
            f"{size.summary()}, fitted anew for each of {size.trials} trials (published: 10); {min(QUERIES, users):,} "
            "people are looked for in each, among all. Deviations are over the trials.",
            "ProfileBayes, which is not in the paper, compares every pair in full and is tried among fewer people.",
            f"{EPOCHS} weeks and fewer; two sites see one topic per week each, random with probability 0.05.",
        ),
    )


_KINDS = ("real", "synthetic")


def _row(source: str, rate: RateComparison, kind: str) -> Row:
    return {
        "model of": source,
        "attack": rate.attack,
        "users": kind,
        "epochs": rate.n_epochs,
        "rate": getattr(rate, kind),
        "low": getattr(rate, f"{kind}_low"),
        "high": getattr(rate, f"{kind}_high"),
        "deviation": getattr(rate, f"{kind}_deviation"),
        "baseline": rate.baseline,
        "targets": rate.n_targets,
        "queries": rate.n_queries,
        "trials": len(rate.real_each),
    }


def _lines(rates: tuple[RateComparison, ...], users: int) -> tuple[drawing.Line, ...]:
    drawn = []
    styles = iter(drawing.ATTACKS)
    for attack in ("WeightedHamming", "Hamming"):
        for kind in _KINDS:
            points = {
                rate.n_epochs: (getattr(rate, kind), getattr(rate, f"{kind}_low"), getattr(rate, f"{kind}_high"))
                for rate in rates
                if rate.attack == attack
            }
            drawn.append(line(f"{attack_label(attack)}, {kind}", next(styles), points))
    guess = 1.0 / users
    drawn.append(line("Blind guessing", drawing.GUESSING, dict.fromkeys(OBSERVED, (guess, guess, guess))))
    return tuple(drawn)


def _compared(
    found: dict[str, tuple[RateComparison, ...]], users: int, summary: str, trials: int
) -> tuple[Comparison, ...]:
    fewer = (
        f"With {users:,} instead of 10,000,000 people there are fewer to be confused with, so rates are higher. "
        if users < FULL_SIZE
        else ""
    )
    few_types = (
        "Few types lie further apart than people do, so that their users are easier to find; with 500 both agree (see "
        "The studies). "
        if users < FULL_SIZE
        else ""
    )
    compared = []
    for source, rates in found.items():
        for rate in rates:
            if rate.n_epochs != EPOCHS:
                continue
            known = rate.attack != "ProfileBayes"
            why = (
                fewer + few_types + f"Our real people are drawn from printed rates; {summary}, {trials} trials."
                if known
                else "Our attack, not in the paper. It uses what lasts over the weeks, which the model did not see."
            )
            apart = abs(rate.real - rate.synthetic) / rate.real_deviation if rate.real_deviation else float("inf")
            compared.append(
                Comparison(
                    f"{attack_label(rate.attack)}, {EPOCHS} epochs, model of the {source}",
                    "below 1 %, real and synthetic within one standard deviation" if known else "not measured",
                    f"{100 * rate.real:.3g} % real, {100 * rate.synthetic:.3g} % synthetic: {apart:.1f} deviations",
                    why,
                )
            )
    return tuple(compared)
