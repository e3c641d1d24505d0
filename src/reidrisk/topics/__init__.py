"""The Topics API: what one observer sees of a user, and how popular topics are."""

from reidrisk.topics.browser import Browser, BrowserEpoch
from reidrisk.topics.classify import Classification, HostClassifier
from reidrisk.topics.coverage import Coverage
from reidrisk.topics.host_model import HostModel
from reidrisk.topics.pairs import pairs_from_observers, pairs_from_sets
from reidrisk.topics.popularity import exposure, popularity
from reidrisk.topics.simulate import TopicsAPI
from reidrisk.topics.taxonomy import Taxonomy

__all__ = [
    "Browser",
    "BrowserEpoch",
    "Classification",
    "Coverage",
    "HostClassifier",
    "HostModel",
    "Taxonomy",
    "TopicsAPI",
    "exposure",
    "pairs_from_observers",
    "pairs_from_sets",
    "popularity",
]
