"""The two pages of a release: a public one, and an internal one that no privacy statement covers."""

from dataclasses import replace

from reidrisk.present import Terms, words
from reidrisk.present.model import Mood, Page, Sentence
from reidrisk.present.sections.basis import assumed, statement
from reidrisk.present.sections.release import compared
from reidrisk.present.sections.release import noise as noises
from reidrisk.present.words.release import sample_agrees
from reidrisk.privacy import PrivacyStatement
from reidrisk.release import CanaryTest, InternalValidation, NoiseBudget, NoiseFit, PublicValidation, Validation

PUBLIC = (
    noises.stated,
    compared.by_kind,
    compared.absolute,
    compared.relative,
    compared.density,
    noises.counts,
    noises.budget,
    noises.canary,
)
INTERNAL = (compared.found_again, compared.distinct, compared.errors, compared.alike)


def public_page(
    result: Validation | PublicValidation,
    canary: CanaryTest | None = None,
    noise: NoiseFit | None = None,
    budget: NoiseBudget | None = None,
    terms: Terms | None = None,
) -> Page:
    """Return the public page; nothing in it comes from the real data but the release.

    What is not given, or not part of the validation, is said not to have been examined.
    """
    if isinstance(result, PublicValidation):
        result = Validation(result, noise, budget, canary)
    terms, found = terms or Terms(), result.public
    notes = [note for one in (found, result.noise, result.canary) if one is not None for note in one.notes]
    mood, verdict, news = _top(result, terms)
    facts = [
        f"{found.n_types:,} types",
        terms.many("period", found.n_epochs),
        f"sets of {found.k} out of {terms.many('item', found.n_tokens)}",
        f"mean squared error {found.objective:.3g}",
    ]
    if found.n_sampled:
        facts.append(f"{found.n_sampled:,} synthetic {terms.people}")
    return Page(
        kind="Public validation of a release",
        subject="Model and samples against the released statistics",
        verdict=Sentence(verdict),
        news=news,
        mood=mood,
        facts=tuple(facts),
        sections=tuple(filter(None, [*(make(result, terms) for make in PUBLIC), assumed(notes, terms)])),
        footer="This file was made from released statistics alone.",
    )


def internal_page(result: InternalValidation, terms: Terms | None = None) -> Page:
    """Return the internal page, which says at both ends that it must not be published."""
    terms = terms or Terms()
    warning, *notes = result.notes
    trials = len(result.rates[0].real_each) if result.rates else 0
    return Page(
        kind="Internal validation of a release",
        subject=f"Synthetic {terms.people} against the real ones",
        verdict=Sentence(words.reading(result, terms)),
        warning=words.sentence(warning, terms),
        mood="unsure",
        facts=(
            f"{result.n_users:,} real {terms.people}",
            terms.many("period", result.n_epochs),
            f"{trials} trials",
            f"seed {result.seed}",
        ),
        sections=tuple(filter(None, [*(make(result, terms) for make in INTERNAL), assumed(notes, terms)])),
        footer="This file was made from the real data.",
    )


def made_page(stated: PrivacyStatement, said: str) -> Page:
    """Return what a terminal shows of something made: what it is, and what protects the people behind it."""
    protected = replace(statement(stated), console=True)
    return Page(kind="Release", subject="", verdict=Sentence(said), sections=(protected,))


def _top(result: Validation, terms: Terms) -> tuple[Mood, str, tuple[str, ...]]:
    """Return the mood of the box on top, its sentence and what follows: whatever fails comes first."""
    fit, budget, canary = result.noise, result.budget, result.canary
    said = words.reading(result.public, terms)
    failed = [words.reading(fit, terms)] if fit is not None and fit.fits is False else []
    if canary is not None and not canary.passed:
        failed.append(words.reading(canary, terms))  # it speaks of the budget too
    elif budget is not None and budget.enough is False:
        failed.append(words.reading(budget, terms))
    # What was not examined has not passed, and is said first.
    unseen = []
    if fit is None:
        unseen.append("Whether the counts have the stated noise was not examined.")
    elif fit.fits is None:
        unseen.append(words.reading(fit, terms))
    if budget is not None and budget.enough is None:
        unseen.append(words.reading(budget, terms))
    more = (sample_agrees(result.public, terms),) if result.public.n_sampled else ()
    if failed:
        return "alarm", " ".join(failed), (*unseen, said, *more)
    sure = not result.undecided and result.public.beats_popularity and not result.public.statement.simulation
    return "calm" if sure else "unsure", " ".join([*unseen, said]), more
