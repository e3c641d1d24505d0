"""Who people are: the populations that everything else is tried on."""

from reidrisk.base.moved import to_studies
from reidrisk.populations.mixture import mixture
from reidrisk.populations.published import published
from reidrisk.populations.rate_tables import read_rates
from reidrisk.populations.rates import Rates, crossover, distinct, identical, iid, real
from reidrisk.populations.type_mixture import TypeMixture

__all__ = [
    "Rates",
    "TypeMixture",
    "crossover",
    "distinct",
    "identical",
    "iid",
    "mixture",
    "published",
    "read_rates",
    "real",
]

__getattr__ = to_studies(
    "reidrisk.populations",
    {
        "audiences": "reidrisk_studies.jha.audiences",
        "drifting": "reidrisk_studies.jha.drift",
        "seen": "reidrisk_studies.jha.audiences",
        "visits": "reidrisk_studies.jha.audiences",
    },
)
