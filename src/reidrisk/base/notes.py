"""Note: something a reader should know, as a code and the values its sentence needs; no sentence is made here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any


class Note(Mapping[str, Any]):
    """A code and its values; :mod:`reidrisk.present.words` turns it into English.

    The code, in kebab case, says which sentence; the values are numbers, texts of the user's own data, lists of them.

    >>> note = Note("rows-dropped", dropped=1204, kept=0.93)
    >>> note.code, note["dropped"]
    ('rows-dropped', 1204)
    >>> Note.from_dict(note.to_dict()) == note
    True
    """

    __slots__ = ("_values", "code")

    code: str
    _values: Mapping[str, Any]

    def __init__(self, code: str, /, **values: Any) -> None:
        object.__setattr__(self, "code", code)
        object.__setattr__(self, "_values", MappingProxyType(values))

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"a note does not change; make another one with {name}")

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Note) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash((self.code, repr(sorted(self._values.items()))))

    def __repr__(self) -> str:
        return f"Note({', '.join([repr(self.code), *(f'{name}={value!r}' for name, value in self.items())])})"

    def __reduce__(self) -> Any:
        return Note.from_dict, (self.to_dict(),)

    def to_dict(self) -> dict[str, Any]:
        """Return the code and the values as plain values."""
        return {"code": self.code, **self._values}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Note:
        """Rebuild a note from :meth:`to_dict`."""
        return cls(values["code"], **{name: value for name, value in values.items() if name != "code"})
