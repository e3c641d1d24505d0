"""Other: a system of which nothing is declared, or only the size of its sets."""

from typing import Literal

from reidrisk.base.notes import Note
from reidrisk.mechanisms.registry import Mechanism, register
from reidrisk.mechanisms.top_k_noise import TopKNoise


@register()
class Other(Mechanism):
    """Nothing is declared: no noise, and two observers of a person see the same token every second time.

    >>> Other.known(100).declared, Other.known(100, top_k=5).declared
    ('nothing', 'set size')
    """

    @classmethod
    def known(cls, n_tokens: int, top_k: int | None = None, noise: float | None = None) -> TopKNoise:
        """Return what is given, or a set of two tokens without noise."""
        declared: Literal["set size", "nothing"] = "set size" if top_k else "nothing"
        return TopKNoise(top_k or min(2, n_tokens), noise or 0.0, n_tokens, declared)

    @classmethod
    def note(cls, known: TopKNoise) -> Note:
        """Return that the system is not known, and what stands for it."""
        return Note("system-unknown", top_k=known.top_k, noise=known.noise)
