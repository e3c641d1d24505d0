"""Noise for the counts: how the budget is shared among the tables, and the noise itself (dick, Section 4.2)."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from reidrisk.base import Array, OptionError, ReidRiskError, one_of, stream
from reidrisk.privacy import PrivacyStatement, check_budget, gaussian_sigma, noise, zcdp_rho
from reidrisk.release.counts.pairs import CountTable, PairCounts

SPLIT = {"f11": 0.25, "f22": 0.25, "f12": 0.5, "within": 0.5, "across": 0.5}
"""Shares of the budget as published: 25 / 25 / 50 %; of summed epochs half and half."""


@dataclass(frozen=True)
class NoisePlan:
    """How much noise each table gets."""

    blocks: tuple[CountTable, ...]
    sigma: tuple[float, ...]  # standard deviation of the noise of each table, in users
    epsilon: float
    delta: float
    budget: str
    discrete: bool  # discrete noise from the operating system's randomness, or continuous noise for simulation

    def statement(self, public: tuple[str, ...] = (), seed: int | None = None) -> PrivacyStatement:
        """Return the privacy statement of counts with this noise; a simulation also says its seed."""
        if self.discrete:
            mechanism = "discrete Gaussian noise on whole counts, randomness of the operating system, not stored"
            accounting = "zero-concentrated differential privacy of all tables together, converted to (epsilon, delta)"
            if self.budget == "split":
                accounting = "zero-concentrated differential privacy of each table, converted; budgets add up"
        else:
            mechanism = f"floating-point Gaussian noise from a generator with seed {seed}"
            accounting = "analytic Gaussian mechanism"
        return PrivacyStatement(
            mechanism=mechanism,
            epsilon=self.epsilon,
            delta=self.delta,
            simulation=not self.discrete,
            budget=self.budget,
            sigma={block.name: sigma for block, sigma in zip(self.blocks, self.sigma, strict=True)},
            sensitivity={block.name: block.sensitivity for block in self.blocks},
            accounting=accounting,
            taken_as_public=public,
        )


def plan_noise(
    blocks: Sequence[CountTable], epsilon: float, delta: float, budget: str = "joint", discrete: bool = True
) -> NoisePlan:
    r"""Share a budget among tables of counts.

    ``"split"``: each table is a mechanism of its own with its :data:`SPLIT` of epsilon and of delta, as published.
    ``"joint"``: one mechanism over all tables, each scaled by a weight. With m the noise that sensitivity 1 needs, any
    :math:`\sigma_b` with :math:`\sum_b \Delta_b^2 / \sigma_b^2 \le 1/m^2` is private; the summed squared error
    :math:`\sum_b c_b \sigma_b^2` of the statistics is least at
    :math:`\sigma_b^2 = m^2 (\Delta_b / \sqrt{c_b}) \sum_j \Delta_j \sqrt{c_j}`. Discrete noise is accounted by zCDP.

    >>> from reidrisk.release.counts.pairs import measured_blocks
    >>> [round(s, 1) for s in plan_noise(measured_blocks(5, 469, 2), math.log(3), 1e-15, discrete=False).sigma]
    [53.9, 53.9, 41.5]
    """
    epsilon, delta = check_budget(epsilon, delta)
    one_of("budget", budget, ("joint", "split"))
    if budget == "split":
        shares = _shares(blocks)
        sigma = [b.sensitivity * _ratio(shares[b.name] * epsilon, shares[b.name] * delta, discrete) for b in blocks]
    else:
        ratio = _ratio(epsilon, delta, discrete)
        whole = sum(block.sensitivity * math.sqrt(block.error) for block in blocks)
        sigma = [ratio * math.sqrt(block.sensitivity / math.sqrt(block.error) * whole) for block in blocks]
    return NoisePlan(tuple(blocks), tuple(sigma), epsilon, delta, budget, discrete)


def add_noise(counts: PairCounts, plan: NoisePlan, seed: int | None = None) -> PairCounts:
    """Add the noise of a plan to exact counts: discrete noise of opendp, or continuous noise of a seed to simulate."""
    if plan.discrete and seed is not None:
        raise OptionError(f"seed {seed!r} was given for a real release; noise that protects people is never seeded")
    if not plan.discrete and seed is None:
        raise OptionError("a simulation needs a seed, so that it can be repeated")
    if seed is None:
        made = {b.name: noise.discrete_gaussian(s) for b, s in zip(plan.blocks, plan.sigma, strict=True)}
        # opendp must agree that together it keeps within the budget.
        over = overspent(plan, {block.name: float(made[block.name].map(block.sensitivity)) for block in plan.blocks})
        if over:
            raise ReidRiskError(f"{over}; report this")
        return counts.replaced({name: noise.add_discrete_gaussian(counts.flat(name), made[name]) for name in made})
    noisy: dict[str, Array] = {}
    for block, sigma in zip(plan.blocks, plan.sigma, strict=True):
        values = counts.flat(block.name)
        noisy[block.name] = values + sigma * stream(seed, f"release noise {block.name}").standard_normal(len(values))
    return counts.replaced(noisy)


def _shares(blocks: Sequence[CountTable]) -> dict[str, float]:
    whole = sum(SPLIT[block.name] for block in blocks)
    return {block.name: SPLIT[block.name] / whole for block in blocks}


def _ratio(epsilon: float, delta: float, discrete: bool) -> float:
    """Return the noise that sensitivity 1 needs."""
    return 1.0 / math.sqrt(2.0 * zcdp_rho(epsilon, delta)) if discrete else gaussian_sigma(epsilon, delta)


def overspent(plan: NoisePlan, spent: Mapping[str, float]) -> str:
    """Say which tables spend more rho of zCDP than the budget of the plan has; nothing where none does."""
    shares = _shares(plan.blocks)
    allowed = {name: (rho, shares[name]) for name, rho in spent.items()}
    if plan.budget == "joint":
        allowed = {"all": (sum(spent.values()), 1.0)}
    for name, (rho, share) in allowed.items():
        if rho > zcdp_rho(share * plan.epsilon, share * plan.delta) * (1.0 + 1e-9):
            return f"the noise planned for {name} spends rho = {rho:.6g}, more than the budget"
    return ""
