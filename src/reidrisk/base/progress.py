"""Progress of a long job: one type for all of them, what is being done and the share of the whole that is behind."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Self

Progress = Callable[[str, float], None]  # called with what is being done, and the share of the whole that is done


class Stage(str):
    """What a job is doing, where its code alone does not say it: a code with values, as notes have.

    :func:`reidrisk.present.words.stages.stage_said` turns codes into English. It is a text, the code, so that whoever
    shows progress need not know of values.

    >>> stage = Stage("attack-at", attack="Hamming", n=8)
    >>> stage == "attack-at", stage.values["n"]
    (True, 8)
    """

    __slots__ = ("values",)

    values: Mapping[str, Any]

    def __new__(cls, code: str, /, **values: Any) -> Self:
        """Take a code, in kebab case, and what is to be filled in."""
        stage = super().__new__(cls, code)
        stage.values = MappingProxyType(values)
        return stage


def silent(stage: str, share: float) -> None:
    """Take progress and show nothing."""


class Steps:
    """Turns the steps of a job into progress: each has a cost, and the costs add up to ``total``.

    >>> steps = Steps(lambda stage, share: print(stage, share), total=4)
    >>> steps.begin("draw", 1)
    draw 0.0
    >>> within = steps.within("attack", 3)
    attack 0.25
    >>> within("searching", 0.5)
    attack 0.625
    """

    def __init__(self, progress: Progress | None, total: float) -> None:
        self._progress, self._total = progress or silent, total
        self._done = self._current = 0.0

    def begin(self, stage: str, cost: float) -> None:
        """Say what comes next; what was begun before is done."""
        self._done, self._current = self._done + self._current, cost
        self._progress(stage, min(1.0, self._done / self._total))

    def within(self, stage: str, cost: float) -> Progress:
        """Say what comes next, and return the progress of whoever does it: the share of this step that is behind."""
        self.begin(stage, cost)
        return lambda _, share: self._progress(stage, min(1.0, (self._done + share * cost) / self._total))
