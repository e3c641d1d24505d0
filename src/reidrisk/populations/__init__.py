"""Who people are: the populations that everything else is tried on."""

from reidrisk.populations.audiences import audiences, seen, visits
from reidrisk.populations.drift import drifting
from reidrisk.populations.mixture import mixture
from reidrisk.populations.published import published
from reidrisk.populations.rate_tables import read_rates
from reidrisk.populations.rates import Rates, crossover, distinct, identical, iid, real
from reidrisk.populations.type_mixture import TypeMixture

__all__ = [
    "Rates",
    "TypeMixture",
    "audiences",
    "crossover",
    "distinct",
    "drifting",
    "identical",
    "iid",
    "mixture",
    "published",
    "read_rates",
    "real",
    "seen",
    "visits",
]
