"""How often an attack is right, how sure that is, and who is exposed."""

from reidrisk.measure.comparison import difference
from reidrisk.measure.confidence import Choosiness, choosiness
from reidrisk.measure.exposure import Exposure, Group, exposure
from reidrisk.measure.information import EpochInformation, epoch_information
from reidrisk.measure.matching import matching
from reidrisk.measure.profiles import Anonymity, p_above, profile_anonymity
from reidrisk.measure.risk import credits, curve, random_user
from reidrisk.measure.victim import known_interests, known_victim
from reidrisk.records import Truth, find_truth

__all__ = [
    "Anonymity",
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
    "known_interests",
    "known_victim",
    "matching",
    "p_above",
    "profile_anonymity",
    "random_user",
]
