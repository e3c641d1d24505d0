"""Whether the noise that is stated is enough for the budget that is stated: arithmetic, without drawing any noise."""

import math
from dataclasses import dataclass

from reidrisk.base.errors import OptionError
from reidrisk.base.notes import Note
from reidrisk.base.results import Spoken
from reidrisk.privacy import PrivacyStatement, gaussian_delta
from reidrisk.release.counts.mechanism import Plan, overspent
from reidrisk.release.counts.pairs import measured_blocks
from reidrisk.release.counts.statistics import Statistics


@dataclass(frozen=True, eq=False)
class NoiseBudget(Spoken):
    """Whether noise of the stated size keeps within the stated budget."""

    enough: bool | None  # None where it could not be examined
    epsilon: float
    delta: float
    promised: float = 0.0
    r""":math:`\mu = \sqrt{\sum_b \Delta_b^2 / \sigma_b^2}` of the stated noise; 0 where it was not examined."""
    delta_promised: float = 0.0  # the delta of that noise at epsilon; it must not exceed delta
    why: Note | None = None  # why it could not be examined, or is not the noise of a release


def noise_budget(statistics: Statistics) -> NoiseBudget:
    r"""Check the stated noise against the stated epsilon and delta, with the sensitivities that the counts have.

    The :func:`reidrisk.privacy.gaussian_delta` of noise of :math:`\mu` must not exceed the stated delta. Discrete noise
    is held to the accounting of a release as well, zero-concentrated differential privacy. The stated sensitivities are
    not believed: they follow from the size of a set and the number of epochs.

    >>> from reidrisk import TopSets, release
    >>> sets = TopSets([[[0, 1], [0, 2]]] * 500, n_tokens=3)
    >>> noise_budget(release.statistics(sets, epsilon=1.0, delta=1e-6, simulation=True, seed=0)).enough
    True
    """
    statement = statistics.statement
    if statement is None:
        raise OptionError("exact statistics have no noise to examine; give released ones")
    budget = (statement.epsilon, statement.delta)
    if not statement.sigma:
        return NoiseBudget(None, *budget, why=Note("noise-not-stated"))
    if statistics.n_epochs is None:
        return NoiseBudget(None, *budget, why=Note("periods-not-stated"))
    try:
        mu, delta, enough = promised(stated_plan(statement, statistics.k, statistics.n_epochs))
    except OptionError:
        size = {"k": statistics.k, "n_epochs": statistics.n_epochs}
        return NoiseBudget(False, *budget, why=Note("noise-of-other-tables", stated=[*statement.sigma], **size))
    return NoiseBudget(enough, *budget, mu, delta)


def stated_plan(statement: PrivacyStatement, k: int, n_epochs: int) -> Plan:
    """Return the noise that the statement promises, on sets of all of k tokens."""
    blocks = measured_blocks(k, k, n_epochs)
    names = [block.name for block in blocks]
    if set(names) != set(statement.sigma):
        stated = f"the statement has the noise of {', '.join(statement.sigma) or 'no table'}"
        given = f"{n_epochs} epochs of sets of {k} give {', '.join(names)}"
        raise OptionError(f"{stated}, but {given}; give those that were measured, of a release made here")
    sigma = tuple(float(statement.sigma[name]) for name in names)
    return Plan(blocks, sigma, statement.epsilon, statement.delta, statement.budget, not statement.simulation)


def promised(plan: Plan) -> tuple[float, float, bool]:
    """Return mu of the noise of a plan, its delta at the epsilon of the plan, and whether it is within the budget."""
    each = {b.name: b.sensitivity / s for b, s in zip(plan.blocks, plan.sigma, strict=True)}
    mu = math.hypot(*each.values())
    delta = gaussian_delta(1.0 / mu, plan.epsilon)
    # Discrete noise is accounted by zCDP, which leaves some of the budget unspent; continuous noise spends it to the
    # last digit, where rounding decides.
    over = plan.discrete and overspent(plan, {name: ratio**2 / 2.0 for name, ratio in each.items()})
    return mu, delta, delta <= plan.delta * (1.0 + 1e-6) and not over
