"""What a progress bar says: the stages of jobs, in the words of the reader's own data."""

from dataclasses import replace

from reidrisk.base.progress import Stage
from reidrisk.present.terms import Terms
from reidrisk.present.words.register import filled, texts

_GROWS = {"columns": "attribute", "dimensions": "dimension"}
"""What there are more and more of along an axis, where it is neither periods nor items."""


def stage_said(stage: str, terms: Terms | None = None) -> str:
    """Say what a job is doing; a text that is no code, such as the name of a change, stays as it is.

    >>> from reidrisk.present.terms import Terms
    >>> stage_said(Stage("attack-at", attack="WeightedHamming", n=8, axis="epochs"), Terms(period="week"))
    'Weighted Hamming, 8 weeks'
    >>> stage_said("sureness"), stage_said("rotate:4")
    ('how sure the attack is', 'rotate:4')
    """
    text = texts("stages").get(stage)
    if text is None:
        return str(stage)
    values = dict(stage.values) if isinstance(stage, Stage) else {}
    if isinstance(values.get("said"), str):
        values["said"] = stage_said(values["said"], terms)
    return filled(text, values, _along(terms or Terms(), values.get("axis", "epochs"), values.get("every")))


def _along(terms: Terms, axis: str, every: str | None) -> Terms:
    """Return the same words, with those for what the attacker is given more and more of at this stage."""
    if axis == "epochs":
        return replace(terms, period=every) if every in ("day", "week", "month") else terms
    return replace(terms, period=_GROWS.get(axis, terms.item))
