"""The exception family: one root, so that a caller can catch everything this package refuses."""

__all__ = ["DataError", "EngineError", "FormatError", "MissingExtraError", "OptionError", "ReidRiskError"]
__all__ += ["SizeError", "TruthError"]


class ReidRiskError(ValueError):
    """Anything that is refused, with one line on what was wrong, what was given, what is allowed and what to do."""


class DataError(ReidRiskError):
    """Values that contradict themselves or the declared vocabulary; the message names the row or value."""


class EngineError(ReidRiskError):
    """An engine that could not go on: its disk is full, its memory too small, its master gone."""


class FormatError(ReidRiskError):
    """A file that is not what it claims to be, or whose layout is not known."""


class OptionError(ReidRiskError):
    """A parameter outside its allowed range."""


class SizeError(DataError):
    """Something larger than :mod:`reidrisk.base.sizes` allows; nothing was allocated for it."""


class TruthError(ReidRiskError):
    """The true pairs are missing, contradictory, or do not fit the two tables."""


class MissingExtraError(ReidRiskError, ImportError):
    """A part of the package whose optional dependencies are not installed."""
