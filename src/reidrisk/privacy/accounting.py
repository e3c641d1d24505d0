"""How much Gaussian noise a privacy budget asks for: exact for continuous noise, by zCDP for discrete noise."""

import math
from collections.abc import Callable
from fractions import Fraction

from reidrisk.base.errors import OptionError
from reidrisk.base.options import is_number

EPSILON = (1e-9, 1e9)  # below, noise would drown any data; long before the other end, it protects nobody
LEAST_DELTA = 1e-250  # smallest delta; nearer to 0 numbers are no longer told apart
_SAFETY = 1e-9  # relative; roots are found to 1e-12, so that rounding never spends more than the budget
_MOST_ROUNDS = 200


def check_budget(epsilon: float | Fraction, delta: float | Fraction) -> tuple[float, float]:
    """Return (epsilon, delta) as floats, or refuse what is no privacy budget; a fraction is rounded down, to be kept.

    >>> from fractions import Fraction
    >>> check_budget(Fraction(1, 10), 1e-6)[0] < Fraction(1, 10)
    True
    """
    epsilon, delta = _floor(epsilon), _floor(delta)
    if not is_number(epsilon) or not EPSILON[0] <= epsilon <= EPSILON[1]:
        allowed = f"a number from {EPSILON[0]:g} to {EPSILON[1]:g}"
        raise OptionError(f"epsilon must be {allowed}, not {epsilon!r}; below 1 to 3 is usual")
    if not is_number(delta) or not LEAST_DELTA <= delta < 1.0:
        allowed = f"at least {LEAST_DELTA:g} and below 1"
        raise OptionError(f"delta must be {allowed}, not {delta!r}; well below 1/users is usual")
    return float(epsilon), float(delta)


def _floor(value: float | Fraction) -> float:
    """Return the largest float that a fraction is not below; anything else as it is."""
    if not isinstance(value, Fraction):
        return value
    near = float(value)
    return near if near <= value else math.nextafter(near, -math.inf)


def gaussian_delta(sigma: float, epsilon: float, sensitivity: float = 1.0) -> float:
    r"""Return the delta at ``epsilon`` of Gaussian noise: the left side of dick, Proposition 4 (Balle and Wang).

    :math:`\Phi(\Delta / 2\sigma - \epsilon\sigma/\Delta) - e^\epsilon \Phi(-\Delta / 2\sigma - \epsilon\sigma/\Delta)`.

    >>> round(gaussian_delta(sigma=1.0, epsilon=1.0), 4)
    0.1269
    """
    from scipy.special import erfcx, log_ndtr, roots_legendre

    ratio = sigma / sensitivity
    half, shift = 0.5 / ratio, epsilon * ratio
    if half < 1.0 and shift < 100.0:
        # The two terms are nearly the same. With Mills' ratio R, both are the density at shift - half times R, and
        # R(x) - R(y) is the integral of 1 - x R(x), which is above 0: nothing cancels.
        nodes, weights = roots_legendre(24)
        at = shift + half * nodes
        mills = math.sqrt(math.pi / 2.0) * erfcx(at / math.sqrt(2.0))
        density = math.exp(-0.5 * (shift - half) ** 2) / math.sqrt(2.0 * math.pi)
        return density * half * float(weights @ (1.0 - at * mills))
    first = float(log_ndtr(half - shift))
    return math.exp(first) * -math.expm1(min((epsilon + float(log_ndtr(-half - shift))) - first, 0.0))


def gaussian_sigma(epsilon: float, delta: float, sensitivity: float = 1.0) -> float:
    """Return the least standard deviation of Gaussian noise that is (epsilon, delta)-private (dick, Proposition 4).

    >>> round(gaussian_sigma(math.log(3), 1e-15, math.sqrt(45)), 1)
    45.8
    """
    epsilon, delta = check_budget(epsilon, delta)
    return sensitivity * _bisect(lambda s: gaussian_delta(s, epsilon) <= delta) * (1.0 + _SAFETY)


def zcdp_delta(rho: float, epsilon: float) -> float:
    r"""Return a delta at ``epsilon`` of every mechanism that is rho-zCDP.

    :math:`\inf_{\alpha > 1} \frac{e^{(\alpha - 1)(\alpha\rho - \epsilon)}}{\alpha - 1} (1 - 1/\alpha)^\alpha`
    (Canonne, Kamath and Steinke 2020). The discrete Gaussian of parameter sigma is
    :math:`\Delta^2 / 2\sigma^2`-zCDP like the continuous one (proven there), which is why discrete noise goes this way.
    """
    from scipy.optimize import minimize_scalar

    def log_delta(u: float) -> float:
        less = math.exp(u)
        alpha = 1.0 + less
        # (1 - 1/alpha)^alpha / (alpha - 1), written so that nothing cancels where alpha is large.
        return less * (alpha * rho - epsilon) - less * math.log1p(1.0 / less) - math.log1p(less)

    # The best alpha is near (epsilon + rho) / 2 rho; any alpha gives a valid delta.
    middle = math.log(max((epsilon + rho) / (2.0 * rho), 1.0 + 1e-9) - 1.0 + 1e-9)
    best = minimize_scalar(log_delta, bounds=(middle - 25.0, middle + 5.0), method="bounded", options={"xatol": 1e-10})
    return min(math.exp(min(float(best.fun), 0.0)), 1.0)


def zcdp_rho(epsilon: float, delta: float) -> float:
    """Return the largest rho whose zCDP implies (epsilon, delta)-privacy by :func:`zcdp_delta`.

    >>> rho = zcdp_rho(math.log(3), 1e-15)
    >>> round(math.sqrt(45 / (2 * rho)), 1)      # discrete noise costs 3 % more than the 45.8 above
    47.4
    """
    epsilon, delta = check_budget(epsilon, delta)
    return 0.5 / (_bisect(lambda s: zcdp_delta(0.5 / s**2, epsilon) <= delta) * (1.0 + _SAFETY)) ** 2


def _bisect(is_private: Callable[[float], bool]) -> float:
    """Return the least noise-to-sensitivity ratio that is private, from above."""
    low, high = 1e-12, 1.0
    # As many halvings as the bounds of a budget can ask for; an answer that is no number ends here, too.
    for _ in range(_MOST_ROUNDS):
        if is_private(high):
            break
        low, high = high, high * 2.0
    else:
        raise OptionError("no amount of noise keeps within this budget; give a larger epsilon or delta")
    for _ in range(_MOST_ROUNDS):
        if high - low <= 1e-12 * high:
            break
        middle = (low + high) / 2.0
        low, high = (low, middle) if is_private(middle) else (middle, high)
    return high
