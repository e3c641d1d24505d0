"""The public validation: a model and its samples against the differentially private statistics: post-processing."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from reidrisk.base import DataError, Note, OptionError, Spoken
from reidrisk.populations.type_mixture import MixtureStatistics, TypeMixture
from reidrisk.privacy import PrivacyStatement
from reidrisk.records import TopSets
from reidrisk.release.counts.statistics import Statistics
from reidrisk.release.validate.deviations import (
    ErrorCurves,
    ErrorSummary,
    compare,
    frequencies,
    noise_of,
    popularity_alone,
)

MODEL, SAMPLE, ALONE = "model", "sample", "popularity alone"


@dataclass(frozen=True, eq=False)
class PublicValidation(Spoken):
    """How near a model, and users drawn from it, are to the published statistics."""

    statement: PrivacyStatement
    n_types: int
    n_epochs: int
    k: int
    n_tokens: int
    objective: float  # J of the model
    noise: Mapping[str, float]
    """Standard deviation that the noise gave a statistic of each kind, before post-processing."""
    summaries: tuple[ErrorSummary, ...]
    """Errors of the model, of the sample where there is one, and of the baseline, popularity alone."""
    curves: tuple[ErrorCurves, ...]
    n_sampled: int = 0
    short: float = 0.0  # share of the sampled sets that came out short
    agreement: float = 0.0
    """Of the model's statistics that expect ten users or more, the share whose 95 % interval holds the sample's: about
    0.95 where the sample is of this model."""
    notes: tuple[Note, ...] = ()

    def summary(self, what: str, kind: str = "all") -> ErrorSummary:
        """Return one of the summaries."""
        return next(s for s in self.summaries if s.what == what and s.kind == kind)

    @property
    def beats_popularity(self) -> bool:
        """Whether more of the statistics of at least 0.01 % are within a fifth than popularity alone gives."""
        model, alone = self.summary(MODEL).within_fifth, self.summary(ALONE).within_fifth
        return model > alone or model == 1.0


def public_validation(
    model: TypeMixture,
    statistics: Statistics,
    users: TopSets | None = None,
    users_statement: PrivacyStatement | None = None,
) -> PublicValidation:
    """Compare a model, and users drawn from it, with the released statistics (dick, Section 6, Figures 3 and 4).

    This may be published: exact statistics are refused, and so is a model, or users drawn from it, whose privacy
    statement is another than that of the statistics. Users' sets that came out short count as they are.

    >>> from reidrisk import TopSets, release
    >>> sets = TopSets([[[0, 1], [0, 1]], [[2, 3], [2, 3]]] * 5_000, n_tokens=4)
    >>> stats = release.statistics(sets, epsilon=1.0, delta=1e-6, simulation=True, seed=0)
    >>> model = release.fit_mixture(stats, n_types=4, n_epochs=3, steps=300, device="cpu")
    >>> found = public_validation(model, stats, model.sample(20_000, seed=0))
    >>> found.summary("model").within_fifth > found.summary("popularity alone").within_fifth
    True
    """
    if statistics.statement is None:
        raise OptionError("exact statistics are private; use internal_validation, and keep what it says")
    check_same_tokens(model, statistics)
    _check_same_protection("the model", model.statement, statistics.statement)
    if users_statement is not None:
        _check_same_protection("the users", users_statement, statistics.statement)
    ours = model.statistics()
    found = {MODEL: ours}
    short = agreement = 0.0
    computed = Note("model-errors-computed", n_epochs=model.n_epochs)
    notes = [Note("targets-are-released"), Note("targets-hold-in-every-period"), computed]
    if users is not None:
        check_same_tokens(model, users)
        if users.n_epochs != model.n_epochs:
            raise DataError(f"the users have {users.n_epochs} epochs, the model {model.n_epochs}: it is another model")
        found[SAMPLE] = frequencies(users)
        short = float(np.mean((users.tokens < 0).any(axis=2)))
        agreement = _agreement(found[SAMPLE], ours, len(users))
        notes.append(Note("sample-as-drawn", n_users=len(users)))
    found[ALONE] = popularity_alone(statistics, model.n_epochs)
    compared = [compare(what, statistics, name) for name, what in found.items()]
    return PublicValidation(
        statement=statistics.statement.after("model and samples were compared with the statistics"),
        n_types=model.n_types,
        n_epochs=model.n_epochs,
        k=model.k,
        n_tokens=model.n_tokens,
        objective=model.objective(statistics),
        noise=noise_of(statistics),
        summaries=tuple(summary for each, _ in compared for summary in each),
        curves=tuple(curves for _, curves in compared),
        n_sampled=0 if users is None else len(users),
        short=short,
        agreement=agreement,
        notes=tuple(notes),
    )


def check_same_tokens(model: TypeMixture, other: Statistics | TopSets) -> None:
    """Refuse a model over another vocabulary, or with sets of another size, than what it is compared with."""
    what = "the statistics" if isinstance(other, Statistics) else "the sets"
    if model.n_tokens != other.n_tokens:
        raise DataError(f"the model is over {model.n_tokens} tokens, {what} over {other.n_tokens}; give those it is of")
    if model.vocabulary is not None and other.vocabulary is not None and model.vocabulary != other.vocabulary:
        raise DataError(f"the model and {what} have different labels for their tokens: another vocabulary")
    if model.k != other.k:
        raise DataError(f"the model has sets of {model.k} tokens, {what} of {other.k}; give those it is of")


def _check_same_protection(what: str, statement: PrivacyStatement | None, released: PrivacyStatement) -> None:
    """Refuse what is not protected as the statistics are: the report has their statement, which would be untrue."""
    if statement is None:
        raise OptionError(f"{what} may come from exact statistics: there is no privacy statement; fit to released ones")
    for name in ("epsilon", "delta", "simulation", "sigma"):
        ours, theirs = getattr(statement, name), getattr(released, name)
        if (dict(ours) != dict(theirs)) if name == "sigma" else (ours != theirs):
            says = f"the privacy statement of {what} says {name} {ours}, that of the statistics {theirs}"
            raise OptionError(f"{says}: they are of two releases; give the statistics that the model was fitted to")


def _agreement(sample: MixtureStatistics, model: MixtureStatistics, n: int) -> float:
    expected, seen = (np.concatenate([part.ravel() for part in each]) for each in (model, sample))
    often = (expected * n >= 10.0) & (expected * n <= n - 10.0)
    if not often.any():
        return 1.0
    error = np.sqrt(expected[often] * (1.0 - expected[often]) / n)
    return float(np.mean(np.abs(seen[often] - expected[often]) <= 1.96 * error))
