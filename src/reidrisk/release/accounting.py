"""The accounting a release rests on; it lives in :mod:`reidrisk.privacy`, where cohorts use it too."""

from reidrisk.privacy.accounting import check_budget, gaussian_delta, gaussian_sigma, zcdp_delta, zcdp_rho

__all__ = ["check_budget", "gaussian_delta", "gaussian_sigma", "zcdp_delta", "zcdp_rho"]
