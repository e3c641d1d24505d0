"""``python -m reidrisk``: the same as the command ``reidrisk``."""

from reidrisk.cli import main

main()
