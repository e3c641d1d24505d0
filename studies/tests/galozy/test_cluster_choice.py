"""Scores of numbers of clusters: one a number, the same every time, and none where there are too few people."""

import numpy as np
import pytest

from reidrisk.base.errors import OptionError
from reidrisk_studies.galozy.cluster_choice import cluster_scores

PROFILES = np.random.default_rng(0).normal(size=(24, 5))


def test_scores_of_numbers_of_clusters():
    scores = cluster_scores(PROFILES, [2, 4, 12])
    assert [score.n_clusters for score in scores] == [2, 4, 12]
    assert all(score.smallest >= 1 and score.largest <= 23 for score in scores)
    assert [s.to_dict() for s in scores] == [s.to_dict() for s in cluster_scores(PROFILES, [2, 4, 12])]
    for count in (1, 24):
        with pytest.raises(OptionError, match="2 to 23 clusters"):
            cluster_scores(PROFILES, [count])
