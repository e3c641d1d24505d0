"""What a private measurement of cohorts promises, and what it takes as public."""

from __future__ import annotations

from reidrisk.privacy import PrivacyStatement


def central_statement(
    epsilon: float, delta: float, sigma: float, bound: float, seed: int | None, public_rule: str
) -> PrivacyStatement:
    """Return the statement of counts with central noise; with a seed it is that of a simulation."""
    real = "discrete Gaussian noise on whole counts, randomness of the operating system, not stored"
    return PrivacyStatement(
        mechanism=real if seed is None else f"rounded Gaussian noise from a generator with seed {seed}",
        epsilon=float(epsilon),
        delta=float(delta),
        simulation=seed is not None,
        unit="one user with their cohort and categories",
        budget="joint",
        sigma={"counts": sigma},
        sensitivity={"counts": bound},
        accounting="zero-concentrated differential privacy of sizes and counts together, converted to (epsilon, delta)",
        taken_as_public=(
            "which cohorts and categories exist; one row of the table is one user",
            _not_fitted(public_rule),
        ),
        post_processing=("gaps, intervals, p-values and the blocklist were computed from the noisy counts",),
    )


def local_statement(epsilon: float, lie: float, c: int, seed: int | None, public_rule: str) -> PrivacyStatement:
    """Return the statement of answers by randomised response; with a seed it is that of a simulation."""
    mechanism = f"randomised response to one of {c} questions drawn at random, a lie with probability {lie:.3g}"
    source = "randomness of the operating system, not stored" if seed is None else f"a generator with seed {seed}"
    return PrivacyStatement(
        mechanism=f"{mechanism}; {source}",
        epsilon=float(epsilon),
        delta=0.0,
        simulation=seed is not None,
        unit="the categories of one user",
        neighbours="any change of one user's categories",
        accounting="one answer per user: local differential privacy",
        taken_as_public=(
            "who takes part, and their cohort, which every site sees",
            "which categories exist",
            _not_fitted(public_rule),
        ),
        post_processing=("gaps, intervals, p-values and the blocklist were computed from the answers",),
    )


def _not_fitted(public_rule: str) -> str:
    return f"the rule that assigns cohorts{f' ({public_rule})' if public_rule else ''}, not fitted to these users"
