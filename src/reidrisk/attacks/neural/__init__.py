"""The neural attack: embeddings of records and a network on pairs of them (carey, E.1.3)."""

from reidrisk.attacks.neural.attack import Neural

__all__ = ["Neural"]
