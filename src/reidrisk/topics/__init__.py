"""The Topics API: what one observer sees of a user, and how popular topics are."""

from reidrisk.base.moved import moved
from reidrisk.mechanisms.popularity import pairs_from_observers, pairs_from_sets, popularity
from reidrisk.topics.browser import Browser, BrowserEpoch, browse
from reidrisk.topics.classify import Classification, Coverage, HostClassifier
from reidrisk.topics.histories.replay import Replay, replay
from reidrisk.topics.histories.table import Histories, histories_from_frame, read_histories
from reidrisk.topics.histories.times import Epochs
from reidrisk.topics.host_model import HostModel
from reidrisk.topics.mechanism import Topics
from reidrisk.topics.shards import write_sites
from reidrisk.topics.simulate import TopicsAPI
from reidrisk.topics.taxonomy import Taxonomy, UtilityBuckets, read_utility_buckets

__all__ = ["Browser", "BrowserEpoch", "browse", "pairs_from_observers", "pairs_from_sets", "popularity"]
__all__ += ["Classification", "Coverage", "HostClassifier", "Replay", "replay"]
__all__ += ["Epochs", "Histories", "HostModel", "histories_from_frame", "read_histories", "write_sites"]
__all__ += ["Taxonomy", "Topics", "TopicsAPI", "UtilityBuckets", "read_utility_buckets"]

__getattr__ = moved(__name__)
