"""Latent bandits and shared knowledge: what an anonymised transition matrix keeps private, and what it costs."""

from reidrisk.bandits.agent.environment import LatentBandit, easy_rewards, hard_rewards
from reidrisk.bandits.agent.regret import Regret, RegretDifference, compare, regret
from reidrisk.bandits.casas import read_casas
from reidrisk.bandits.clustered import clustered_users
from reidrisk.bandits.endomondo import read_endomondo
from reidrisk.bandits.fitbit import read_fitbit
from reidrisk.bandits.graph2vec import graph2vec
from reidrisk.bandits.linkage.ads import ads
from reidrisk.bandits.linkage.measure import deanonymisation
from reidrisk.bandits.logs import from_log
from reidrisk.bandits.matrix_files import read_matrices
from reidrisk.bandits.sharing.anonymise import Shared, anonymise
from reidrisk.bandits.sharing.cluster_choice import ClusterScore, cluster_scores
from reidrisk.bandits.sharing.strategies import (
    Average,
    Clusters,
    Laplace,
    Microaggregation,
    Neighbour,
    Own,
    PrivateClusters,
    TruncatedSVD,
)
from reidrisk.bandits.sharing.weights import cell_entropy, cell_weights
from reidrisk.bandits.spec import BehaviourFile, TradeoffSpec, paper_strategies
from reidrisk.bandits.surface import Tradeoff, TradeoffPoint
from reidrisk.bandits.tradeoff import tradeoff
from reidrisk.bandits.transitions import Behaviour

__all__ = [
    "Average",
    "Behaviour",
    "BehaviourFile",
    "ClusterScore",
    "Clusters",
    "Laplace",
    "LatentBandit",
    "Microaggregation",
    "Neighbour",
    "Own",
    "PrivateClusters",
    "Regret",
    "RegretDifference",
    "Shared",
    "Tradeoff",
    "TradeoffPoint",
    "TradeoffSpec",
    "TruncatedSVD",
    "ads",
    "anonymise",
    "cell_entropy",
    "cell_weights",
    "cluster_scores",
    "clustered_users",
    "compare",
    "deanonymisation",
    "easy_rewards",
    "from_log",
    "graph2vec",
    "hard_rewards",
    "paper_strategies",
    "read_casas",
    "read_endomondo",
    "read_fitbit",
    "read_matrices",
    "regret",
    "tradeoff",
]
