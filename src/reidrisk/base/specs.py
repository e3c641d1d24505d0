"""Spec: everything that defines a job as one frozen value; what does not fit is refused in one line."""

from collections.abc import Callable, Iterable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import core_schema

from reidrisk.base.errors import FormatError, OptionError, ReidRiskError
from reidrisk.base.options import refuse_unknown

_NAME_OF: ContextVar[Callable[[str], str]] = ContextVar("name_of", default=str)


def as_flag(name: str) -> str:
    """Return how the command line calls an option, such as ``--n-aux``."""
    return f"--{name.replace('_', '-')}"


def named(name: str) -> str:
    """Return how whoever builds a spec calls one of its fields, for a message that a validator raises."""
    return _NAME_OF.get()(name)


@dataclass(frozen=True)
class OneOf:
    """What marks a field of text as one of the names that a registry has when the field is filled.

    >>> from typing import Annotated
    >>> class Party(Spec):
    ...     food: Annotated[str, OneOf(lambda: ("soup", "cake"))] = "soup"
    >>> Party(food="tar")
    Traceback (most recent call last):
    reidrisk.base.errors.OptionError: food must be one of soup, cake, not 'tar'
    """

    names: Callable[[], Iterable[str]]

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> core_schema.CoreSchema:
        return core_schema.no_info_after_validator_function(self._checked, handler(source))

    def __get_pydantic_json_schema__(self, schema: Any, handler: Any) -> dict[str, Any]:
        return {"type": "string", "enum": [*self.names()]}

    def _checked(self, name: str) -> str:
        known = tuple(self.names())
        if name not in known:
            raise ValueError(f"must be one of {', '.join(known)}")
        return name


class Spec(BaseModel):
    """A frozen value without unknown fields, which can be written and read; saved with its seed, it can be run again.

    Validators of fields raise a ``ValueError`` that begins with 'must': the name of the field comes before it, and what
    was given after it.

    >>> class Party(Spec):
    ...     guests: int = 2
    >>> Party(guests="all")
    Traceback (most recent call last):
    reidrisk.base.errors.OptionError: guests must be a valid integer, ...
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    def __init__(self, /, **values: Any) -> None:
        refuse_unknown(values, type(self).model_fields)
        try:
            super().__init__(**values)
        except ValidationError as error:
            raise _refusal(error) from error

    @classmethod
    def called(cls, name_of: Callable[[str], str], /, **values: Any) -> Self:
        """Build a spec; a message calls a field by what ``name_of`` makes of its name, such as :func:`as_flag`."""
        token = _NAME_OF.set(name_of)
        try:
            return cls(**values)
        finally:
            _NAME_OF.reset(token)

    def to_dict(self) -> dict[str, Any]:
        """Return the spec as plain values."""
        return self.model_dump(mode="json")

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Rebuild a spec from :meth:`to_dict`."""
        try:
            return cls(**values)
        except ReidRiskError as error:
            raise FormatError(f"this is no {cls.__name__}: {error}") from error


def _refusal(error: ValidationError) -> ReidRiskError:
    """Return the first thing that does not fit: an error of our own as it is, or one line made of it."""
    first = error.errors(include_url=False)[0]
    cause = first.get("ctx", {}).get("error")
    if isinstance(cause, ReidRiskError):
        return cause
    names = [part for part in first["loc"] if isinstance(part, str)]
    name = named(names[-1]) if names else "the spec"
    if first["type"] == "missing":
        return OptionError(f"{name} is missing")
    if first["type"] == "literal_error":
        allowed = first["ctx"]["expected"].replace("'", "").replace(" or ", ", ")
        return OptionError(f"{name} must be one of {allowed}, not {first['input']!r}")
    text = first["msg"].removeprefix("Value error, ").replace("Input should be", "must be").removeprefix("Input ")
    return OptionError(f"{name} {text}, not {first['input']!r}")
