"""Topics: the Topics API as a system that audits know by name, with its published parameters."""

from reidrisk.base.notes import Note
from reidrisk.mechanisms.registry import Mechanism, register
from reidrisk.mechanisms.top_k_noise import TopKNoise
from reidrisk.topics.simulate import TopicsAPI


@register()
class Topics(Mechanism):
    """The Topics API: one of a person's top 5 topics per week, or any topic in one answer out of 20.

    >>> Topics.known(349)
    TopKNoise(top_k=5, noise=0.05, n_tokens=349, declared='system')
    """

    @classmethod
    def known(cls, n_tokens: int, top_k: int | None = None, noise: float | None = None) -> TopKNoise:
        """Return the parameters of :class:`TopicsAPI` but for those given."""
        return TopKNoise(top_k or TopicsAPI.top_k, TopicsAPI.noise if noise is None else noise, n_tokens)

    @classmethod
    def note(cls, known: TopKNoise) -> Note:
        """Return that the tokens come from the Topics API."""
        return Note("system-topics", top_k=known.top_k, noise=known.noise)
