"""The adversary's study, run tiny: more guises collect more, limits stop them, aggregates bound what is found."""

import pytest

from reidrisk_studies.galozy.adversary import measured
from reidrisk_studies.galozy.clustered import clustered_users


@pytest.mark.parametrize(("strategy", "most"), [("own", 1.0), ("microaggregation:5", 0.2)])
def test_guises_limits_and_strategies(strategy, most):
    found = measured(clustered_users(15, 5, 3), strategy, (1, 8), 0)
    one, many, one_limited, limited = (result for _, result in found)
    assert [limits for limits, _ in found] == [False, False, True, True]
    assert (one.collected, one_limited.collected) == (1, 1)
    assert one.likelihood.rate <= many.likelihood.rate <= most + 1e-9
    assert (many.answered, limited.answered) == (8, 3)
    assert limited.likelihood.rate <= many.likelihood.rate
