"""Old names that work for one version, with a warning: they are in :mod:`reidrisk.base.streams` now."""

from reidrisk.base.moved import moved

_NAMES = ("stream", "blocks", "fresh_seed", "checked_seed")

__getattr__ = moved("reidrisk.streams", dict.fromkeys(_NAMES, "reidrisk.base.streams"))
