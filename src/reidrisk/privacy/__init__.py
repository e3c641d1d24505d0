"""What protects people in published counts: budgets, vetted noise, and the statement that travels with the output."""

from reidrisk.privacy.accounting import check_budget, gaussian_delta, gaussian_sigma, zcdp_delta, zcdp_rho
from reidrisk.privacy.noise import add_discrete_gaussian, discrete_gaussian, randomised_response
from reidrisk.privacy.statement import PUBLISHED, PrivacyStatement

__all__ = ["check_budget", "gaussian_delta", "gaussian_sigma", "zcdp_delta", "zcdp_rho"]
__all__ += ["PUBLISHED", "PrivacyStatement", "add_discrete_gaussian", "discrete_gaussian", "randomised_response"]
