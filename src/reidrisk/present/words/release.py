"""Sentences about a release: what protects people, how near the model is, and who could be found again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reidrisk.present.words import attack_label, joined, phrase, reads

if TYPE_CHECKING:
    from reidrisk.present.terms import Terms
    from reidrisk.privacy import PrivacyStatement
    from reidrisk.release import FitReport, InternalValidation, PublicValidation, RateComparison, Statistics


def share(rate: float) -> str:
    """Write a share with one decimal, with two where nearly all would read as all or hardly any as none.

    >>> share(0.12345), share(0.99972), share(0.9999987), share(1.0), share(0.00012), share(0.0)
    ('12.3 %', '99.97 %', 'more than 99.99 %', '100 %', '0.01 %', '0 %')
    """
    if rate in (0.0, 1.0):
        return f"{100 * rate:.0f} %"
    rest = 100.0 * min(rate, 1.0 - rate)
    if rest < 0.01:
        return "less than 0.01 %" if rate < 0.5 else "more than 99.99 %"
    return f"{100 * rate:.{1 if rest >= 0.05 else 2}f} %"


def kinds(terms: Terms) -> dict[str, str]:
    """Return words for the kinds of statistics."""
    return {
        "all": "all",
        "single": terms.items,
        "within": f"pairs within a {terms.period}",
        "across": f"pairs across two {terms.periods}",
    }


@reads("PrivacyStatement")
def _stated(result: PrivacyStatement, _terms: Terms) -> str:
    if result.simulation:
        return "This is a simulation: its noise can be reproduced, so it protects nobody and must not be published."
    if result.delta == 0.0:  # answers under local privacy
        return phrase("release.stated-locally", _terms, result=result)
    return phrase("release.stated", _terms, result=result)


def measured(found: Statistics, terms: Terms) -> str:
    """Say what was measured."""
    return phrase("release.measured", terms, found=found)


def fitted(report: FitReport, _terms: Terms) -> str:
    """Say how a fit went."""
    return phrase("release.fitted", _terms, report=report)


def drawn(n: int, files: int, folder: str, seed: int, terms: Terms) -> str:
    """Say what was drawn."""
    return f"{n:,} synthetic {terms.people} in {files:,} file{'' if files == 1 else 's'} in {folder}; seed {seed}."


@reads("PublicValidation")
def _public(result: PublicValidation, terms: Terms) -> str:
    model, alone = result.summary("model"), result.summary("popularity alone")
    said = (
        f"Of {model.n:,} statistics, {share(model.within_point)} are within 0.1 percentage points of the released "
        f"ones; of the {model.n_large:,} that are at least 0.01 %, {share(model.within_fifth)} are off by a fifth at "
        f"most ({share(alone.within_fifth)} if only the popularity of each {terms.item} were known)."
    )
    return said if result.beats_popularity else f"{said} So the model is no better than popularity alone."


def sample_agrees(result: PublicValidation, terms: Terms) -> str:
    """Say whether the sample is one of this model, and how many of its sets are short."""
    return phrase("release.sample-agrees", terms, result=result, agree=share(result.agreement))


@reads("InternalValidation")
def _internal(result: InternalValidation, terms: Terms) -> str:
    told = phrase("release.internal", terms, result=result)
    good = [attack_label(rate.attack) for rate in result.rates if rate.agrees]
    apart = [attack_label(rate.attack) for rate in result.rates if not rate.agrees]
    if good:
        told += f" Synthetic {terms.people} are found as often as real ones by {joined(good)}."
    if apart and good:
        told += f" They are not by {joined(apart)}."
    elif apart:
        told += f" {joined(apart)} {'finds' if len(apart) == 1 else 'find'} them at other rates."
    return told


@reads("RateComparison")
def _rate(result: RateComparison, terms: Terms) -> str:
    range_of = "one standard deviation of the trials" if len(result.real_each) > 1 else "the interval of the real rate"
    real, synthetic = (f"{100 * rate:.3g} %" for rate in (result.real, result.synthetic))
    return (
        f"{attack_label(result.attack)} finds {real} of real and {synthetic} of synthetic {terms.people} after "
        f"{terms.many('period', result.n_epochs)}, {'' if result.agrees else 'not '}within {range_of}; blind guessing "
        f"finds {100 * result.baseline:.2g} %."
    )
