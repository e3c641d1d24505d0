"""Attackers: each answers, for a query, which of the targets it is."""

from reidrisk.attacks.agreement.by_rank import ByRank
from reidrisk.attacks.agreement.fellegi_sunter import FellegiSunter
from reidrisk.attacks.agreement.in_order import IdOrder, RowOrder
from reidrisk.attacks.base import Attack, Links
from reidrisk.attacks.full_information import FullInformation
from reidrisk.attacks.grouped import Groups
from reidrisk.attacks.hamming import Hamming, WeightedHamming
from reidrisk.attacks.mixture.bayes import MixtureBayes
from reidrisk.attacks.scored import ScoredAttack

# isort: split
# Attacks are listed, and their rows measured, in the order of these imports: the plain ones come first.
from reidrisk.attacks.cells import AllCells, SameCells
from reidrisk.attacks.coincidences.attack import Coincidences
from reidrisk.attacks.disjoint import Disjoint
from reidrisk.attacks.neural.attack import Neural
from reidrisk.attacks.one_to_one import OneToOne
from reidrisk.attacks.pooled import Pooled, pool
from reidrisk.attacks.positional import PositionalAttack
from reidrisk.attacks.profile.bayes import ProfileBayes
from reidrisk.attacks.registry import Entry, register, registry
from reidrisk.attacks.rehearsed import Rehearsed
from reidrisk.attacks.rivals import (
    BM25,
    Affinity,
    Clock,
    Hellinger,
    Hypergeometric,
    Markov,
    Matched,
    NaiveBayes,
    Overlap,
    Presence,
    Rival,
    SameTotals,
    TfIdf,
    Totals,
)
from reidrisk.attacks.scoreboard import Scoreboard
from reidrisk.attacks.sets.strict_loose import LooseSets, StrictSets
from reidrisk.attacks.vectors.gaussian import GaussianBayes
from reidrisk.attacks.vectors.nearest import Nearest, NearestEuclidean, NearestWhitened
from reidrisk.attacks.vectors.procrustes import Procrustes
from reidrisk.attacks.vectors.several import MeanPair, NearestPair
from reidrisk.attacks.vectors.whitened_cosine import WhitenedCosine
from reidrisk.base.moved import moved
from reidrisk.records import Cells

__all__ = ["IdOrder", "RowOrder"]
__all__ += ["Attack", "ByRank", "FellegiSunter", "FullInformation", "Groups", "Links", "ScoredAttack"]
__all__ += ["Hamming", "MixtureBayes", "Neural", "Pooled", "PositionalAttack", "WeightedHamming", "pool"]
__all__ += ["Entry", "ProfileBayes", "Rehearsed", "register", "registry"]
__all__ += ["BM25", "Affinity", "Clock", "Hellinger", "Hypergeometric", "Markov", "NaiveBayes", "Overlap"]
__all__ += ["GaussianBayes", "LooseSets", "Presence", "Rival", "Scoreboard", "StrictSets", "TfIdf", "Totals"]
__all__ += ["Coincidences", "Disjoint", "Matched", "OneToOne", "SameTotals"]
__all__ += ["Cells", "MeanPair", "Nearest", "NearestEuclidean", "NearestPair", "NearestWhitened", "Procrustes"]
__all__ += ["AllCells", "SameCells", "WhitenedCosine"]

__getattr__ = moved(__name__)
