"""How often an attack is right, how sure that is, who is exposed, and who is alone with what is known of them."""

from reidrisk.base.moved import moved
from reidrisk.measure.attribution import Attribution, Part, PartPair, attribution
from reidrisk.measure.bits import Bits, Information, exact_information
from reidrisk.measure.calibration import Calibration, calibration, recalibrated
from reidrisk.measure.ceiling import Ceiling, Reach, ceiling
from reidrisk.measure.classes import Classes, Journalist, classes
from reidrisk.measure.comparison import difference
from reidrisk.measure.confidence import Choosiness, choosiness
from reidrisk.measure.exposure import Exposure, Group, exposure
from reidrisk.measure.forecast import Forecast, Predicted, forecast
from reidrisk.measure.information import Independence, independence, information
from reidrisk.measure.matching import matching
from reidrisk.measure.risk import credits, curve, random_user
from reidrisk.measure.unicity import Unicity, unicity
from reidrisk.measure.victim import known_interests, known_victim
from reidrisk.records import Truth, find_truth

__all__ = ["Attribution", "Calibration", "Part", "PartPair", "attribution", "calibration", "recalibrated"]
__all__ += ["Ceiling", "Classes", "Journalist", "Reach", "ceiling", "classes", "difference"]
__all__ += ["Choosiness", "Exposure", "Forecast", "Group", "Predicted", "choosiness", "exposure", "forecast"]
__all__ += ["Bits", "Independence", "Information", "exact_information", "independence", "information", "matching"]
__all__ += ["Unicity", "credits", "curve", "known_interests", "known_victim", "random_user", "unicity"]
__all__ += ["Truth", "find_truth"]

__getattr__ = moved(__name__)
