"""What no attacker can beat, and how it relates to other notions of privacy.

A channel ``P`` is a ``Channel``, an array or a ``scipy.sparse`` matrix: ``P[i, o]`` is the probability that user ``i``
has representation ``o``. A ``prior`` holds the probability of each user; default: all the same.
"""

from reidrisk.bounds.ldp import from_ldp, ldp_delta, ldp_delta_interval, ldp_epsilon, ldp_epsilon_interval
from reidrisk.bounds.matching import distinct_outputs, matching, matching_optimum
from reidrisk.bounds.other_notions import (
    from_k_anonymity,
    from_mutual_information,
    k_anonymity,
    min_entropy_leakage,
    mutual_information,
    vulnerability,
)
from reidrisk.bounds.random_user import accuracy, optimal_rule, partial_information, random_user
from reidrisk.bounds.summary import Tightest, summary, tightest, tightest_by_epochs, tightest_of
from reidrisk.bounds.top_sets.full import topics_full_information, topics_optimum
from reidrisk.bounds.top_sets.partial import popularity_error, topics_partial_information, topics_posterior
from reidrisk.mechanisms.top_k_noise import token_probabilities

__all__ = ["from_ldp", "ldp_delta", "ldp_delta_interval", "ldp_epsilon", "ldp_epsilon_interval"]
__all__ += ["distinct_outputs", "matching", "matching_optimum"]
__all__ += ["from_k_anonymity", "from_mutual_information", "k_anonymity", "min_entropy_leakage"]
__all__ += ["accuracy", "mutual_information", "optimal_rule", "partial_information", "random_user", "vulnerability"]
__all__ += ["Tightest", "summary", "tightest", "tightest_by_epochs", "tightest_of"]
__all__ += ["topics_full_information", "topics_optimum"]
__all__ += ["popularity_error", "token_probabilities", "topics_partial_information", "topics_posterior"]
