"""Which columns an attack on every cell went by, and whether another attack looks at them."""

from collections.abc import Iterable
from typing import Any

from reidrisk.attacks import AllCells, Attack
from reidrisk.base import Note
from reidrisk.base.arrays import Ints

_MOST = 3  # limit: columns that are named
_SHARE = 0.5  # unit: of what pairs share, from which the columns that hold it are said to carry a link


def carried_by(attack: Attack[Any] | None, queries: Any, truth: Ints, notes: Iterable[Any]) -> tuple[Note, ...]:
    """Return the columns of the known table that hold half of what true pairs share, where the attack reads cells.

    ``unused`` are those of them that, by the ``notes`` on how its file was understood, nothing else looks at.
    """
    if not isinstance(attack, AllCells):
        return ()
    held = attack.shared_by(queries, truth)
    columns: list[str] = []
    for name in sorted(held, key=lambda name: (-held[name], name))[:_MOST]:
        if sum(held[one] for one in columns) < _SHARE and held[name] > 0.0:
            columns.append(name)
    read = next((note for note in notes if isinstance(note, Note) and note.code == "understood-as"), None)
    left = set() if read is None else set(read["unused"])
    share = sum(held[name] for name in columns)
    unused = [name for name in columns if name in left]
    return (Note("cells-carried-by", attack=attack.name, columns=columns, share=share, unused=unused),) * bool(columns)
