"""Carey et al., Appendix F.1: do epochs tell more together than one by one? Sequence models of published people."""

from __future__ import annotations

from dataclasses import replace

from reidrisk import bounds, measure, populations, topics
from reidrisk.base.progress import Progress, Steps
from reidrisk.measure import Information
from reidrisk.present import drawing
from reidrisk.sequence import Schedule, Sizes
from reidrisk_studies.results import Comparison, Row, StudyResult, line
from reidrisk_studies.study import study

__all__ = ["together"]

EPOCHS, NOISE, TOP_K, PUBLISHED_USERS = 8, 0.05, 5, 10_000_000
PRESET: str | Sizes = "small"
SCHEDULE: Schedule | None = None  # default: what goes with the preset
PRINTED = {1: (7.59, 6.66, 0.93), EPOCHS: (6.54, 5.45, 1.09)}
"""carey, F.1.4: entropy, conditional entropy and mutual information, in bits per epoch."""


@study(
    "carey-sequence",
    title="Topics API: bits of one epoch and of eight, by sequence models",
    reference="carey, Appendix F.1",
    users=1_000_000,
    seconds=(10.0, 20_000.0),
    least=500,
)
def together(users: int, seed: int, progress: Progress) -> StudyResult:
    """Bits per epoch that two sites share, of one epoch and of eight together (carey, F.1.4).

    Cross-entropies of trained models on held-out users stand for entropies: their difference is an estimate of mutual
    information, and no bound in either direction. Without a GPU, try a few thousand users; models that saw few
    find too little.

    Parameters
    ----------
    users : int
        To train, to stop and to measure on.
    seed : int
        Of the population, the two sites and the models.
    progress : callable
        Called with what is done.
    """
    steps = Steps(progress, 10.0)
    steps.begin(f"draw {users:,} users", 1.0)
    sets = populations.published(users, EPOCHS, seed=seed)
    api = topics.TopicsAPI(sets.n_tokens, top_k=TOP_K, noise=NOISE)
    one, two = (api.expose(sets, seed=seed, site=site) for site in ("site 1", "site 2"))
    within = steps.within("train", 9.0)
    found = measure.independence(one, two, "sequence", PRESET, SCHEDULE, seed, progress=within)
    each = {1: found.apart, EPOCHS: found.together}
    return StudyResult(
        users=users,
        seed=seed,
        rows=tuple(row for r, bits in each.items() for row in _rows(r, bits)),
        lines=tuple(
            line(f"{'Single epochs' if r == 1 else 'Epochs together'}", replace(style, band=False), _limits(bits))
            for (r, bits), style in zip(each.items(), drawing.ATTACKS, strict=False)
        ),
        x_title="number of epochs observed",
        y_title=f"Lemma 9 on people linked correctly, of {PUBLISHED_USERS:,}, were the estimated bits the true ones",
        comparisons=tuple(_compared(r, bits) for r, bits in each.items()),
        assumptions=(
            "Users are drawn from the published population; what is not printed in the papers about people is our "
            "choice, such as how long unlisted interests last.",
            "Two sites see one topic per epoch each, of five held, and a random one with probability 0.05.",
            f"Of {users:,} users a tenth was measured, another tenth decided when to stop, and the rest trained.",
            "A difference of cross-entropies bounds mutual information in neither direction.",
        ),
    )


def _rows(r: int, found: Information) -> list[Row]:
    parts = {"entropy": found.entropy, "conditional": found.conditional, "mutual": found.mutual}
    return [
        {"quantity": name, "epochs": r, "value": bits.value, "low": bits.low, "high": bits.high, "printed": printed}
        for (name, bits), printed in zip(parts.items(), PRINTED[r], strict=True)
    ]


def _limits(found: Information) -> dict[int, tuple[float, float, float]]:
    """Return the bound of Lemma 9 for each number of epochs, where it says something."""
    bits = max(0.0, found.mutual.value)
    values = {r: bounds.from_mutual_information(r * bits, PUBLISHED_USERS) for r in range(1, EPOCHS + 1)}
    return {r: (min(1.0, value),) * 3 for r, value in values.items()}


def _compared(r: int, found: Information) -> Comparison:
    ours = f"{found.entropy.value:.2f}, {found.conditional.value:.2f}, {found.mutual.value:.2f}"
    printed = ", ".join(f"{bits:.2f}" for bits in PRINTED[r])
    why = (
        "The population was calibrated to these bits of one epoch, in closed form; a model that learnt from few users "
        "finds less."
        if r == 1
        else "Real people repeat themselves more over eight weeks than ours do, so that each week holds fewer bits "
        "there; and the model is a small one."
    )
    return Comparison(f"bits per epoch, {r} epoch{'s' * (r > 1)}: entropy, conditional, mutual", printed, ours, why)
