"""Simple attacks that keep the strong ones honest: each compares what two records hold, and is quick."""

from reidrisk.attacks.rivals.affinity import Affinity
from reidrisk.attacks.rivals.base import Rival, counts_of
from reidrisk.attacks.rivals.bm25 import BM25
from reidrisk.attacks.rivals.clock import Clock
from reidrisk.attacks.rivals.hellinger import Hellinger
from reidrisk.attacks.rivals.hypergeometric import Hypergeometric
from reidrisk.attacks.rivals.markov import Markov
from reidrisk.attacks.rivals.matched import Matched
from reidrisk.attacks.rivals.naive_bayes import NaiveBayes
from reidrisk.attacks.rivals.overlap import Overlap
from reidrisk.attacks.rivals.presence import Presence
from reidrisk.attacks.rivals.same_totals import SameTotals
from reidrisk.attacks.rivals.tf_idf import TfIdf
from reidrisk.attacks.rivals.totals import Totals

__all__ = ["BM25", "Affinity", "Clock", "Hellinger", "Hypergeometric", "Markov", "NaiveBayes", "Overlap", "Rival"]
__all__ += ["Matched", "Presence", "SameTotals", "TfIdf", "Totals", "counts_of"]
