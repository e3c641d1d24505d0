"""Who people are: the populations that everything else is tried on."""

from reidrisk.base.moved import moved
from reidrisk.populations.published import published
from reidrisk.populations.rates import Rates, read_rates, real
from reidrisk.populations.type_mixture import TypeMixture, mixture

__all__ = ["Rates", "TypeMixture", "mixture", "published", "read_rates", "real"]

__getattr__ = moved(__name__)
