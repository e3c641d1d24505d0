"""Scores of dense rows: exact products of whole numbers, and the nearest of real vectors."""

from reidrisk.search.dense.rows import Form, VectorRows
from reidrisk.search.dense.scorer import VectorScorer
from reidrisk.search.dense.several import NearestTwo, SeveralRows
from reidrisk.search.dense.whole import DenseDot, DenseRows

__all__ = ["DenseDot", "DenseRows", "Form", "NearestTwo", "SeveralRows", "VectorRows", "VectorScorer"]
