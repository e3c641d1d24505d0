"""Who people are: the populations that everything else is tried on."""

from reidrisk.base.moved import to_studies
from reidrisk.populations.published import published
from reidrisk.populations.rates import Rates, read_rates, real
from reidrisk.populations.type_mixture import TypeMixture, mixture

__all__ = ["Rates", "TypeMixture", "mixture", "published", "read_rates", "real"]

__getattr__ = to_studies(
    "reidrisk.populations",
    {
        "audiences": "reidrisk_studies.jha.audiences",
        "crossover": "reidrisk_studies.jha.personas",
        "distinct": "reidrisk_studies.jha.personas",
        "drifting": "reidrisk_studies.jha.drift",
        "identical": "reidrisk_studies.jha.personas",
        "iid": "reidrisk_studies.jha.personas",
        "seen": "reidrisk_studies.jha.audiences",
        "visits": "reidrisk_studies.jha.audiences",
    },
)
