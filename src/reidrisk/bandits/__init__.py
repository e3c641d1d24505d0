"""Latent bandits and shared knowledge: what an anonymised transition matrix keeps private, and what it costs."""

from reidrisk.bandits.adversary.attack import AdversaryResult, adversary
from reidrisk.bandits.adversary.repository import Repository
from reidrisk.bandits.agent.environment import LatentBandit, easy_rewards, hard_rewards
from reidrisk.bandits.agent.regret import Regret, RegretDifference, compare, regret
from reidrisk.bandits.client import Client, Fitted, ServiceError
from reidrisk.bandits.linkage.measure import ads, deanonymisation
from reidrisk.bandits.logs import from_log, read_matrices
from reidrisk.bandits.service.spec import ServiceSpec
from reidrisk.bandits.sharing import strategies
from reidrisk.bandits.sharing.anonymise import Shared, anonymise
from reidrisk.bandits.sharing.strategies import *
from reidrisk.bandits.sharing.weights import cell_entropy, cell_weights
from reidrisk.bandits.spec import BehaviourFile, TradeoffSpec, paper_strategies
from reidrisk.bandits.tradeoff import Tradeoff, TradeoffPoint, tradeoff
from reidrisk.bandits.transitions import Behaviour
from reidrisk.base.moved import moved

__all__ = ["AdversaryResult", "LatentBandit", "Repository", "adversary", "easy_rewards", "hard_rewards"]
__all__ += ["Client", "Fitted", "Regret", "RegretDifference", "ServiceError", "compare", "regret"]
__all__ += ["ServiceSpec", "Shared", "ads", "anonymise", "deanonymisation", "from_log", "read_matrices"]
__all__ += ["BehaviourFile", "TradeoffSpec", "cell_entropy", "cell_weights", "paper_strategies"]
__all__ += ["Behaviour", "Tradeoff", "TradeoffPoint", "tradeoff"]
__all__ += strategies.__all__

__getattr__ = moved(__name__)
