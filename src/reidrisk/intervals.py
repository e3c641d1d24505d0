"""Old names that work for one version, with a warning: they are in :mod:`reidrisk.base.intervals` now."""

from reidrisk.base.moved import moved

__getattr__ = moved(__name__)
