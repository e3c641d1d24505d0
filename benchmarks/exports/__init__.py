"""Small generated exports with a known answer: `leaky` ones, and ones that are `safe` by construction."""

from .case import Export, read, share_right
from .leaky import LEAKY
from .safe import SAFE

__all__ = ["LEAKY", "SAFE", "Export", "read", "share_right"]
