"""Old names that work for one version, with a warning: they are in :mod:`reidrisk.base.intervals` now."""

from reidrisk.base.moved import moved

_NAMES = ("mean_interval", "difference_interval")

__getattr__ = moved("reidrisk.intervals", dict.fromkeys(_NAMES, "reidrisk.base.intervals"))
