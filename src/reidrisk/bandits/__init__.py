"""Latent bandits and shared knowledge: what an anonymised transition matrix keeps private, and what it costs."""

from reidrisk.bandits.adversary.attack import AdversaryResult, adversary
from reidrisk.bandits.adversary.repository import Repository
from reidrisk.bandits.agent.environment import LatentBandit, easy_rewards, hard_rewards
from reidrisk.bandits.agent.regret import Regret, RegretDifference, compare, regret
from reidrisk.bandits.client import Client, Fitted, ServiceError
from reidrisk.bandits.linkage.measure import ads, deanonymisation
from reidrisk.bandits.logs import from_log, read_matrices
from reidrisk.bandits.service.spec import ServiceSpec
from reidrisk.bandits.sharing.anonymise import Shared, anonymise
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
from reidrisk.bandits.tradeoff import Tradeoff, TradeoffPoint, tradeoff
from reidrisk.bandits.transitions import Behaviour
from reidrisk.base.moved import moved

__all__ = [
    "AdversaryResult",
    "Average",
    "Behaviour",
    "BehaviourFile",
    "Client",
    "Clusters",
    "Fitted",
    "Laplace",
    "LatentBandit",
    "Microaggregation",
    "Neighbour",
    "Own",
    "PrivateClusters",
    "Regret",
    "RegretDifference",
    "Repository",
    "ServiceError",
    "ServiceSpec",
    "Shared",
    "Tradeoff",
    "TradeoffPoint",
    "TradeoffSpec",
    "TruncatedSVD",
    "ads",
    "adversary",
    "anonymise",
    "cell_entropy",
    "cell_weights",
    "compare",
    "deanonymisation",
    "easy_rewards",
    "from_log",
    "hard_rewards",
    "paper_strategies",
    "read_matrices",
    "regret",
    "tradeoff",
]

__getattr__ = moved(__name__)
