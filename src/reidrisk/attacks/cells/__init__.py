"""Attacks on every cell of the files that records were read from."""

from reidrisk.attacks.cells.attack import AllCells, SameCells

__all__ = ["AllCells", "SameCells"]
