"""The neural attack on lists cut in two halves that share no item, beside a truncated SVD: last.fm artists.

Needs the data of the studies (REIDRISK_DATA), torch and scikit-learn; about half a minute on one core.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse
from sklearn.decomposition import TruncatedSVD

from reidrisk import Bags, attacks, measure
from reidrisk.base.intervals import difference_interval
from reidrisk.sequence.pairs import PairSchedule, PairSizes
from reidrisk_studies.carey.items import read_lastfm
from reidrisk_studies.data import data_file

TRAINING = 1_192


def halves(rng: np.random.Generator):
    """Cut each list in two at random."""
    lists = read_lastfm(data_file("lastfm_hetrec2k/user_artists.dat.gz"))
    n = len(lists.offsets) - 1
    row = np.repeat(np.arange(n), np.diff(lists.offsets))
    item = lists.items[np.lexsort((rng.random(len(row)), row))]
    first = np.arange(len(row)) - lists.offsets[row] < np.diff(lists.offsets)[row] // 2
    shape = (n, lists.n_items)
    return [
        sparse.csr_array((np.ones(side.sum(), dtype=int), (row[side], item[side])), shape=shape)
        for side in (first, ~first)
    ]


def decomposition(training, targets, queries, size: int) -> np.ndarray:
    """Return who is found by the cosine of a truncated SVD, items weighed by inverse document frequency."""
    holders = np.bincount(training.indices, minlength=training.shape[1])
    rarity = np.where(holders > 0, np.log((1 + training.shape[0]) / (1 + holders)), 0.0)
    weigh = sparse.diags_array(rarity)
    model = TruncatedSVD(size, random_state=0).fit(sparse.csr_array(training @ weigh).astype(float))
    placed = [model.transform(sparse.csr_array(table @ weigh)) for table in (targets, queries)]
    placed = [rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9) for rows in placed]
    return ((placed[1] @ placed[0].T).argmax(axis=1) == np.arange(queries.shape[0])).astype(float)


def main() -> None:
    rng = np.random.default_rng(0)
    one, two = halves(rng)
    order = rng.permutation(one.shape[0])
    training, rest = order[:TRAINING], order[TRAINING:]
    targets, queries = (Bags(table[rest], users=rest) for table in (one, two))
    neural = attacks.Neural(
        pair_sizes=PairSizes(tower=64, width=64, hidden=32, items=64, dropout=0.3),
        pair_schedule=PairSchedule(
            steps=200, look_every=20, batch=256, learning_rate=5e-4, patience=5, held_out=0.15, tune=False
        ),
        device="cpu",
    )
    neural.train(*(Bags(table[training], users=training) for table in (one, two)))
    print("mean reciprocal ranks among people held out:", " ".join(f"{x:.3f}" for x in neural.model_.curve))
    found = {}
    for attack in (neural, attacks.Affinity(), attacks.ProfileBayes(), attacks.Overlap()):
        risk = measure.random_user(attack, targets, queries)
        found[attack.name] = risk.per_user
        print(f"{attack.name}: {risk.rate:.4f} ({risk.low:.4f} to {risk.high:.4f})", flush=True)
    for size in (16, 32, 64):
        right = decomposition(one[training] + two[training], targets.counts, queries.counts, size)
        low, high = difference_interval(found["Neural"], right)
        gap = found["Neural"].mean() - right.mean()
        print(f"truncated SVD of {size}: {right.mean():.4f}; Neural {gap:+.4f} ({low:+.4f} to {high:+.4f})", flush=True)


if __name__ == "__main__":
    main()
