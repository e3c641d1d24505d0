"""Old names that work for one version, with a warning: they are in :mod:`reidrisk.base.errors` now."""

from reidrisk.base.moved import moved

_NAMES = ("ReidRiskError", "DataError", "FormatError", "OptionError", "TruthError", "MissingExtraError")

__getattr__ = moved("reidrisk.errors", dict.fromkeys(_NAMES, "reidrisk.base.errors"))
