"""A system that shows one of the k tokens it holds for a user, or, now and then, any token at all."""

from dataclasses import dataclass
from typing import Literal

from reidrisk.base.options import from_0_to_1, whole_up_to


@dataclass(frozen=True)
class TopKNoise:
    """What is known of such a system: an audit hands it to attacks and bounds.

    It holds ``top_k`` tokens for a user in an epoch, and with probability ``noise`` shows any token at all instead of
    one of them. What of this was ``declared``: the whole ``"system"``; the ``"set size"`` alone; or ``"nothing"``, and
    the numbers stand for two observers of one person who see the same token once in ``top_k`` times.
    """

    top_k: int
    noise: float
    n_tokens: int
    declared: Literal["system", "set size", "nothing"] = "system"

    @property
    def probabilities(self) -> tuple[float, float]:
        """How probable a token inside, and outside, a user's top set is in one answer."""
        return token_probabilities(self.n_tokens, self.top_k, self.noise)


def token_probabilities(n_tokens: int, top_k: int = 5, noise: float = 0.05) -> tuple[float, float]:
    """Return ``(q_in, q_out)``: how probable a token inside, and outside, a user's top set is in one answer.

    ``q_in = (1 - noise)/top_k + noise/N`` and ``q_out = noise/N`` (carey, Appendix D, equation 6, for any set size).

    >>> token_probabilities(4, top_k=2, noise=0.2)
    (0.45, 0.05)
    """
    top_k = whole_up_to("top_k", top_k, n_tokens, limit=f"the {n_tokens} tokens")
    noise = from_0_to_1("noise", noise)
    return (1.0 - noise) / top_k + noise / n_tokens, noise / n_tokens
