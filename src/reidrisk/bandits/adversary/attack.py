"""Linking: known cells of people against the matrices that the service handed out, by scoreboard and by likelihood."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from reidrisk.bandits.adversary.collect import Collection, collect, guises
from reidrisk.bandits.adversary.repository import Repository
from reidrisk.bandits.client import Client
from reidrisk.bandits.linkage.measure import ATTACKS, Auxiliary, auxiliary, link_notes, risk_of_credits
from reidrisk.bandits.service.aggregates.noise import private_sigma
from reidrisk.bandits.sharing.anonymise import Shared
from reidrisk.bandits.sharing.strategies import Laplace, PrivateClusters, as_steps
from reidrisk.bandits.sharing.weights import cell_weights
from reidrisk.bandits.transitions import Behaviour
from reidrisk.base import DataError, Floats, Ints, Note, Progress, Risk, Spoken, seed_or_fresh, silent

_KNOWN = 91  # cells that the paper's attacker knows of a large matrix; all but two of a small one
_OBTAINED = "all-shared-obtained"  # what this attacker need not have done


@dataclass(frozen=True, eq=False)
class AdversaryResult(Spoken):
    """What an adversary got out of a service, and how many people it links by that; no rate without the truth."""

    guises: int
    identities: int
    answered: int
    collected: int  # different matrices
    groups: int | None  # that the service hands out, where the truth says so
    strategy: str
    cells: int
    scoreboard: Risk | None = None
    likelihood: Risk | None = None
    seed: int = 0
    notes: tuple[Note, ...] = ()

    @property
    def strongest(self) -> Risk | None:
        """The attack that finds most."""
        found = [risk for risk in (self.scoreboard, self.likelihood) if risk is not None]
        return max(found, key=lambda risk: risk.rate) if found else None


def adversary(
    clients: Sequence[Client],
    people: Behaviour,
    n_guises: int = 10,
    truth: Mapping[str, Any] | None = None,
    n_aux: int | None = None,
    seed: int | None = None,
    level: float = 0.95,
    progress: Progress | None = None,
    repository: Repository | None = None,
) -> AdversaryResult:
    """Attack a service from outside, as in galozy, figure 5, and measure how many people are linked.

    Each client is an identity that has joined. They ask under ``n_guises`` metadata, imitating those of ``people``,
    whose records are the truth from which ``n_aux`` cells each are known. ``truth`` is what the service's
    administrator says about who is behind what (``/admin/membership``), with people named by their agents' ids. The
    credit for a person is as in :func:`reidrisk.bandits.deanonymisation`, and 0 where the person's group was not
    collected. With a ``repository``, one draw of cells is added to it, and all that it holds by now is used.
    """
    seed = seed_or_fresh(seed)
    found = collect(clients, guises(people.profiles, n_guises, seed), progress or silent)
    d = people.records.shape[1]
    known_cells = min(_KNOWN, d * d - 2) if n_aux is None else n_aux
    if repository is not None:
        repository.add_drawn(people.users, auxiliary(people.records, known_cells, seed, draws=1))
    told = AdversaryResult(
        guises=n_guises,
        identities=len(clients),
        answered=found.answered,
        collected=len(found.matrices),
        groups=None,
        strategy=found.strategy,
        cells=known_cells,
        seed=seed,
    )
    if truth is None:
        return told
    return _scored(told, found, people, truth, level, repository)


def _scored(
    told: AdversaryResult,
    found: Collection,
    people: Behaviour,
    truth: Mapping[str, Any],
    level: float,
    repository: Repository | None,
) -> AdversaryResult:
    if any(version != truth["version"] for version in found.versions):
        seen = ", ".join(map(str, found.versions))
        raise DataError(f"the service went from version {seen} to {truth['version']} meanwhile; attack it again")
    place = {agent: n for n, group in enumerate(truth["groups"]) for agent in group["members"]}
    inside = [i for i, user in enumerate(people.users) if user in place]
    if len(inside) < 2:
        raise DataError("fewer than 2 of the people are members; name them by their agents' ids in 'users'")
    records = people.records[inside]
    of_user = np.array([place[people.users[i]] for i in inside], dtype=np.int64)
    sizes = np.array([len(group["members"]) for group in truth["groups"]])
    number = {group["digest"]: n for n, group in enumerate(truth["groups"])}
    targets = np.array(list(found.matrices.values())).reshape(-1, *records.shape[1:])
    of_target = np.array([number[key] for key in found.matrices], dtype=np.int64)
    if repository is None:
        parts = [auxiliary(records, told.cells, told.seed)]
    else:
        parts = [_gathered(repository, people.users[i], at, records[0].size) for at, i in enumerate(inside)]
    known = _together(parts)
    risks = {}
    for attack in ATTACKS:
        credit, ties = np.zeros(len(known.user)), 0.0
        if len(targets):
            best = np.concatenate([_best(targets, found, part, attack, people.tolerance) for part in parts])
            right = (best & (of_target == of_user[known.user][:, None])).sum(axis=1)
            credit = right / best.sum(axis=1) / sizes[of_user[known.user]]
            ties = float(best.sum(axis=1).mean())
        risk = risk_of_credits(credit, known, len(records), ties, told.seed, level, attack)
        told_of = {"guises": told.guises, "answered": told.answered, "collected": told.collected}
        notes = [note for note in link_notes(known, attack) if note.code != _OBTAINED]
        risks[attack] = replace(risk, notes=(*notes, Note("guises-collected", **told_of)))
    told = replace(told, cells=known.cells.shape[1])
    left = len(people.users) - len(inside)
    others = (Note("not-members", n=left),) if left else ()
    scoreboard, likelihood = (risks[attack] for attack in ATTACKS)
    found_notes = (*likelihood.notes, *others)
    return replace(told, groups=len(sizes), scoreboard=scoreboard, likelihood=likelihood, notes=found_notes)


def _gathered(repository: Repository, person: str, at: int, size: int) -> Auxiliary:
    """Return what the repository holds about one person, as one query."""
    cells, values = repository.arrays(person)
    if not 0 <= cells[0] <= cells[-1] < size:
        raise DataError(f"the repository knows cell {cells[-1]} of somebody; matrices here have {size} cells")
    return Auxiliary(np.array([at], dtype=np.int64), cells[None], values[None])


def _together(parts: Sequence[Auxiliary]) -> Auxiliary:
    """Return all queries as one; of their cells only how many there are on average, which may differ."""
    user = np.concatenate([part.user for part in parts])
    average = round(float(np.mean([part.cells.shape[1] for part in parts])))
    return Auxiliary(user, np.zeros((len(user), average), dtype=np.int64), np.zeros((len(user), average)))


def _best(targets: Floats, found: Collection, known: Auxiliary, attack: str, alpha: float) -> Any:
    """Return which of the collected matrices fit the known cells best, (q, m)."""
    scores = _likelihood(targets, found, known) if attack == ATTACKS[1] else _scoreboard(targets, known, alpha)
    return scores == scores.max(axis=1, keepdims=True)


def _scoreboard(targets: Floats, known: Auxiliary, alpha: float) -> Ints:
    from reidrisk.attacks.scoreboard import agreement, score_grid

    # All cells count the same: the paper's weights come from the true records, which an outsider does not have.
    grid = score_grid(np.ones(targets[0].size))
    return agreement(np.ascontiguousarray(targets.reshape(len(targets), -1)), known.cells, known.values, grid, alpha)


def _likelihood(targets: Floats, found: Collection, known: Auxiliary) -> Ints:
    """Score by the mechanism as far as it is public: the strategy, and the fewest members behind a matrix."""
    from reidrisk.bandits.linkage.likelihood import likelihood_scores

    steps, m = as_steps(found.strategy), len(targets)
    scale = np.zeros(targets.shape[1:])
    for step in steps:
        if isinstance(step, Laplace) and step.variance > 0:
            scale = np.hypot(scale, np.sqrt(step.variance / 2.0) * cell_weights(targets, step.weights))
        elif isinstance(step, PrivateClusters):
            sigma = private_sigma(step, found.publications, found.members_at_least, len(scale))
            scale = np.hypot(scale, sigma / np.sqrt(2.0))
    behind = np.repeat(np.arange(m, dtype=np.int64), found.members_at_least)
    shared = Shared(targets, np.arange(m, dtype=np.int64), behind, steps, scale)
    return likelihood_scores(shared, known.cells, known.values)
