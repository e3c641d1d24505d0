"""The system itself is changed: it shows a random token more often, or one of fewer that it holds for a person."""

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from reidrisk.base import DataError, Ints, OptionError, from_0_to_1, whole
from reidrisk.base.options import option
from reidrisk.mechanisms import TopKNoise
from reidrisk.mitigations.base import Mitigation, Side, View
from reidrisk.mitigations.registry import register
from reidrisk.mitigations.rows import randomised
from reidrisk.records import Case, TopSets, Traces

if TYPE_CHECKING:
    from reidrisk.mitigations.scoring import Trial

_STEPS = (0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)


@register(kinds=(Traces,), strengths=(0.1, 0.2, 0.4))
@dataclass(frozen=True)
class System(Mitigation):
    """Let the declared system show any token at all with probability ``noise``, or hold ``top_k`` tokens of a person.

    It is the system that changes, so both observers see other records, whichever side is released. More noise is made
    of the records at hand: where the system has noise p, each token is replaced with probability
    1 - (1 - noise) / (1 - p). Fewer tokens need the sets that the system held: of each, ``top_k`` are drawn once for
    all observers, and each observer sees one of them. The attacker knows both numbers.

    ``declared`` and ``sets`` are what the change starts from; :func:`reidrisk.mitigations.tried` and
    :func:`reidrisk.mitigations.search` take them from their trial.

    >>> from reidrisk.records import Truth
    >>> table = Traces(np.zeros((1000, 2), dtype=int), n_tokens=50)
    >>> change = System(noise=0.5, declared=TopKNoise(5, 0.2, 50))
    >>> seen = change.apply(Case(table, table, Truth(np.arange(1000), "rows"))).queries
    >>> round(float((seen.tokens == 0).mean()), 1)  # 1 - (1 - 0.5) / (1 - 0.2) of them were replaced
    0.6
    """

    noise: float | None = None
    top_k: int | None = None
    declared: TopKNoise | None = field(default=None, compare=False, repr=False)
    sets: TopSets | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        if self.noise is None and self.top_k is None:
            raise OptionError("System takes noise, top_k or both, such as system:0.2 or system:top_k=3")
        if self.noise is not None:
            from_0_to_1("noise", self.noise)
        if self.top_k is not None:
            whole("top_k", self.top_k)

    @property
    def text(self) -> str:
        """The change as a text, without what it starts from."""
        given = [] if self.noise is None else [f"{self.noise}"]
        given += [] if self.top_k is None else [f"top_k={self.top_k}"]
        return f"{self.name}:{','.join(given)}"

    def within(self, trial: "Trial", case: Case) -> Self:
        """Return the change of the system that the trial declares."""
        system = trial.mechanism
        if system is None or system.declared == "nothing":
            return self
        return replace(self, declared=self.declared or system, sets=self.sets or trial.top_sets)

    def check(self, case: Any, seed: int, side: str) -> None:
        """Refuse a system that is not declared, less noise than it has, and fewer tokens of sets that are not known."""
        super().check(case, seed, side)
        if self.declared is None:
            raise DataError(
                f"{self.text} changes a system, and none is declared; say which ({option('system')}, {option('noise')})"
            )
        if self.noise is not None and self.noise < self.declared.noise:
            known = f"the system shows random tokens with probability {self.declared.noise:g} already"
            raise DataError(f"{self.text}: {known}; ask for more")
        if self.top_k is not None:
            if self.sets is None:
                raise DataError(f"{self.text} needs the sets that the system held; records alone do not tell them")
            if self.top_k > self.sets.k:
                raise DataError(f"{self.text}: the system holds {self.sets.k} tokens of a person; ask for fewer")

    def released(self, case: Case, seed: int = 0, side: Side = "queries") -> View:
        """Return the case as both observers see it after the change."""
        self.check(case, seed, side)
        seen = {name: self._stream(seed, name) for name in ("targets", "queries")}
        if self.top_k is None or self.sets is None:
            tables = {name: self._changed(getattr(case, name), None, rng) for name, rng in seen.items()}
        else:
            fewer = _fewer(self.sets, self.top_k, self._stream(seed, "sets"))
            of = {"targets": np.arange(len(case.targets)), "queries": case.known_truth.target}
            tables = {name: self._shown(getattr(case, name), fewer[of[name]], rng) for name, rng in seen.items()}
        changed = replace(case, **tables, notes=(*case.notes, self.note("both")))
        return View(changed, np.arange(len(case.queries)))

    def known_to_attacker(self, case: Case, seed: int = 0, side: Side = "queries", rows: Ints | None = None) -> View:
        """Return the case as released; the attacker is told of the system as it is now."""
        view = self.released(case, seed, side)
        assert self.declared is not None
        told = replace(self.declared, noise=self._noise(), top_k=self.top_k or self.declared.top_k)
        return replace(view, mechanism=told)

    def helps_to_know(self, side: Side = "queries") -> bool:
        """Whether the attacker can be told anything: always."""
        return True

    @classmethod
    def usual(cls, case: Case) -> tuple[Self, ...]:
        """Return nothing: which strengths there are depends on the system (:func:`of_system`)."""
        return ()

    @classmethod
    def ladder(cls, case: Case) -> tuple[Self, ...]:
        """Return nothing, as above."""
        return ()

    def _noise(self) -> float:
        assert self.declared is not None
        return self.declared.noise if self.noise is None else self.noise

    def _changed(self, table: Any, learnt: Any, rng: np.random.Generator) -> Any:
        assert self.declared is not None
        before = self.declared.noise
        return randomised(table, 1.0 - (1.0 - self._noise()) / (1.0 - before) if before < 1.0 else 0.0, rng)

    def _shown(self, table: Traces, sets: Ints, rng: np.random.Generator) -> Traces:
        """Return what an observer sees of these sets, in the periods in which the table has anything."""
        place = rng.integers(sets.shape[2], size=sets.shape[:2])
        tokens = np.take_along_axis(sets, place[:, :, None], axis=2)[:, :, 0].astype(np.int64)
        random = rng.random(tokens.shape) < self._noise()
        tokens[random] = rng.integers(table.n_tokens, size=int(random.sum()))
        shown = np.where(table.observed, tokens[:, : table.n_epochs], -1)
        return Traces(shown, table.n_tokens, table.users, table.vocabulary).with_notes(table.notes)


def _fewer(sets: TopSets, top_k: int, rng: np.random.Generator) -> Ints:
    """Return as many tokens of each set, drawn at random, once for all observers; those that are missing come last."""
    keys = np.where(sets.tokens >= 0, rng.random(sets.tokens.shape), np.inf)
    order = np.argsort(keys, axis=2, kind="stable")[:, :, :top_k]
    return np.asarray(np.take_along_axis(sets.tokens, order, axis=2), dtype=np.int64)


def of_system(trial: "Trial", strengths: tuple[float, ...] = _STEPS) -> tuple[System, ...]:
    """Return changes of the system that a trial declares, the mildest first; none where none is declared.

    >>> from reidrisk.mitigations import Trial
    >>> [one.text for one in of_system(Trial(mechanism=TopKNoise(5, 0.15, 349)), System.strengths)]
    ['system:0.2', 'system:0.4']
    """
    system = trial.mechanism
    if system is None or system.declared == "nothing":
        return ()
    return tuple(System(p, declared=system, sets=trial.top_sets) for p in strengths if p > system.noise)
