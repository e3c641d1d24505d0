"""Measure cohorts: the one way in, which chooses between exact and noisy counts."""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy.typing as npt

from reidrisk.base.errors import OptionError
from reidrisk.base.streams import fresh_seed
from reidrisk.cohorts.private.sensitivity import measured_through_noise
from reidrisk.cohorts.sensitivity.cohorts import Sensitivity, measured_exactly
from reidrisk.cohorts.spec import CohortSpec, Noise


def sensitivity(
    assignment: npt.ArrayLike,
    visited: Any,
    spec: CohortSpec | float | None = None,
    categories: Sequence[str] | None = None,
    **options: Any,
) -> Sensitivity:
    r"""Measure the sensitivity gap of every cohort (floc, Definitions 1 to 4).

    A cohort is sensitive when the gap of its anomalous category is strictly above ``t``. On few people that is mostly
    chance, so two more counts are given: **statistically significant** at a false discovery rate over the cohorts
    (``beyond_chance``), and **significant after Bonferroni**, so that with probability ``level`` none of them is wrong
    (``beyond_doubt``). The baseline fills cohorts of the same sizes at random. ``assignment``, ``visited`` and
    ``categories`` are those of :func:`count_visits`; ``options`` are fields of the spec by name.

    **Through noise** (``spec.noise``; floc, Use of synced Chrome history) there is no baseline. *central*: someone
    counts everybody and adds discrete Gaussian noise to every size and count; adding or removing one user is
    (epsilon, delta)-private. *local*: each user is asked about one category drawn at random and answers by randomised
    response, truly with probability :math:`e^\epsilon / (1 + e^\epsilon)`; the cohort is given as it is, since every
    site sees it anyway. ``most_categories`` (central) lets only that many categories of a user count, drawn at random:
    less noise, and frequencies that come out too low. A ``simulation`` has a seed and protects nobody.

    **Noise protects nobody where the cohorts were fitted to these users** (:meth:`SortingLSH.fit`, clusters): one user
    who comes then moves nearly everybody. Assign cohorts by a table that was made without them; ``public_rule`` says in
    the statement where it comes from, such as "Chrome's table of March 2021".

    >>> import numpy as np
    >>> cohort, visited = np.repeat(np.arange(10), 2_000), np.zeros((20_000, 1), dtype=bool)
    >>> visited[:600] = True                                 # 30 % of cohort 0, nobody else
    >>> found = sensitivity(cohort, visited, t=0.1)
    >>> round(float(found.gap[0]), 3), found.blocklist().cohorts
    (0.27, (0,))
    >>> noisy = sensitivity(cohort, visited, CohortSpec(n_cohorts=10, noise=Noise(epsilon=1.0, delta=1e-9)))
    >>> noisy.blocklist().cohorts, bool(noisy.low[0] < 0.27 < noisy.high[0]), noisy.statement.simulation
    ((0,), True, False)
    """
    if not isinstance(spec, CohortSpec):
        given = _former_noise(options, bool(options.pop("private", False)))
        if spec is not None:
            warnings.warn("give the threshold by name: sensitivity(..., t=0.1)", DeprecationWarning, stacklevel=2)
            given["t"] = spec
        spec = CohortSpec(**given)
    elif options:
        raise OptionError(f"give a spec or {next(iter(options))}, not both")
    measure = measured_exactly if spec.noise is None else measured_through_noise
    return measure(assignment, visited, spec, categories)


def private_sensitivity(
    assignment: npt.ArrayLike, visited: Any, *former: Any, categories: Sequence[str] | None = None, **options: Any
) -> Sensitivity:
    """Measure the gaps through noise as before version 0.2; now :func:`sensitivity` does, with a spec."""
    names = ("n_cohorts", "epsilon", "delta", "model", "t", "level", "fdr")
    given = {"seed": None, **options, **dict(zip(names, former, strict=False))}
    seed = given["seed"]
    if seed is None:
        given["seed"] = fresh_seed()
    elif not given.get("simulation", False):
        raise OptionError(f"seed {seed!r} was given, but noise that protects people is never seeded; leave it out")
    return sensitivity(assignment, visited, CohortSpec(**_former_noise(given, private=True)), categories)


def _former_noise(options: dict[str, Any], private: bool) -> dict[str, Any]:
    """Return options with those of noise in a :class:`Noise`; until version 0.2 they stood beside the others."""
    noise = {name: options[name] for name in Noise.model_fields if name in options}
    if not private and not noise:
        return options
    advice = "give the options of noise in a spec: CohortSpec(n_cohorts=..., noise=Noise(epsilon=..., delta=...))"
    warnings.warn(advice, DeprecationWarning, stacklevel=3)
    rest = {name: value for name, value in options.items() if name not in noise}
    if private:
        return rest | {"noise": noise}
    if any(value != Noise.model_fields[name].default for name, value in noise.items()):
        raise OptionError(f"{', '.join(noise)} are for private=True; nothing is noisy")
    return rest
