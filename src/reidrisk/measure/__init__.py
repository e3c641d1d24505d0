"""How often an attack is right, how sure that is, and who is exposed."""

from reidrisk.measure.comparison import difference
from reidrisk.measure.confidence import Choosiness, choosiness
from reidrisk.measure.exposure import Exposure, Group, exposure
from reidrisk.measure.information import EpochInformation, epoch_information
from reidrisk.measure.matching import matching
from reidrisk.measure.risk import credits, curve, random_user
from reidrisk.measure.truth import Truth, find_truth

__all__ = [
    "Choosiness",
    "EpochInformation",
    "Exposure",
    "Group",
    "Truth",
    "choosiness",
    "credits",
    "curve",
    "difference",
    "epoch_information",
    "exposure",
    "find_truth",
    "matching",
    "random_user",
]
