r"""How far a product in low precision can be from the true one: who is further from the best cannot be the best.

A candidate's value is a = fl(u' v' + b'), where u' and v' are the rows u and v as a device holds them. Let t be half
the spacing of its sums relative to 1, and g(k) = k t / (1 - k t). However a sum of d products is ordered, with fused
multiplications or without (Higham 2002, equation 3.5),

    \|fl(u' v') - u' v'\| <= g(d) \|u'\| \|v'\|,

and u' v' itself is off by u' (v' - v) + (u' - u) v. By Cauchy and Schwarz

    \|a - (u v + b)\| <= (g(d) + g(2)) \|u'\| \|v'\| + \|u'\| \|v' - v\| + \|u' - u\| \|v\| + g(3) \|b\| + tiny,

where g(2) and g(3) are for rounding b and adding it, and ``tiny`` is for products that underflow. If rows are rounded
to single precision, \|u' - u\| <= 2^-24 \|u\| (1 + 2^-20); in half precision the true length of the difference is
computed. Norms are rounded up by a millionth, so that computing them in double precision changes nothing.
"""

from typing import Any

import numpy as np

SINGLE = 2.0**-24
"""Half the spacing of single precision: rounding to nearest."""
TENSOR = 2.0**-22
"""What is allowed for sums of a GPU's matrix units, which cut bits off instead of rounding: four times as much."""
_UP = 1.0 + 1e-6


def gamma(k: int, half_spacing: float) -> float:
    """Return g(k) = k t / (1 - k t), the relative error of a sum of k products.

    >>> round(gamma(128, SINGLE) * 1e6, 2)
    7.63
    """
    return k * half_spacing / (1.0 - k * half_spacing)


def margin(
    d: int, u: Any, v: Any, u_off: Any = None, v_off: Any = None, bias: Any = 0.0, half_spacing: float = SINGLE
) -> Any:
    """Return how far a candidate's value can be from the true one.

    ``u`` and ``v`` are lengths of the rows, ``u_off`` and ``v_off`` those of what rounding took from them (default:
    rounded to single precision), ``bias`` is the size of what is added.

    >>> bool(margin(128, 1.0, 1.0) < 8.2e-6)
    True
    """
    u_off = SINGLE * _UP * u if u_off is None else u_off
    v_off = SINGLE * _UP * v if v_off is None else v_off
    long_u, long_v = u + u_off, v + v_off
    sums = (gamma(d, half_spacing) + gamma(2, half_spacing)) * long_u * long_v
    tiny = (2 * d + 4) * 2.0**-126 * (1.0 + long_u + long_v)
    return _UP * (sums + long_u * v_off + u_off * v + gamma(3, half_spacing) * np.abs(bias)) + tiny
