"""Who people are: the populations that everything else is tried on."""

from reidrisk.populations.published import published

__all__ = ["published"]
