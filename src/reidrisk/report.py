"""Old names of the pages; they work for one version, with a warning, and are in :mod:`reidrisk.present` now."""

from reidrisk.base.moved import moved

__getattr__ = moved(__name__)
