"""The Topics API: what one observer sees of a user, and how popular topics are."""

from reidrisk.topics.popularity import exposure, popularity
from reidrisk.topics.simulate import TopicsAPI

__all__ = ["TopicsAPI", "exposure", "popularity"]
