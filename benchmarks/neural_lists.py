"""The neural attack on lists cut in two halves that share no item, beside a truncated SVD: last.fm artists.

Needs the data of the studies (REIDRISK_DATA), torch and scikit-learn; about half a minute on one core.
"""

from __future__ import annotations

import argparse

import numpy as np
from scipy import sparse
from sklearn.decomposition import TruncatedSVD

from reidrisk import Bags, attacks, measure
from reidrisk.base.intervals import difference_interval, mean_interval
from reidrisk.sequence.pairs import PairSchedule, PairSizes
from reidrisk_studies.carey.items import read_lastfm
from reidrisk_studies.data import data_file

TRAINING = 1_192
SIZES = PairSizes(tower=64, width=64, hidden=32, items=64, dropout=0.3)
PLAN = PairSchedule(steps=200, look_every=20, batch=256, learning_rate=5e-4, patience=5, held_out=0.15, tune=False)


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


def split(number: int) -> dict[str, np.ndarray]:
    """Return who of all people is found by each attack in one split of people and lists; NaN where they trained."""
    rng = np.random.default_rng(number)
    one, two = halves(rng)
    order = rng.permutation(one.shape[0])
    training, rest = np.sort(order[:TRAINING]), np.sort(order[TRAINING:])
    targets, queries = (Bags(table[rest], users=rest) for table in (one, two))
    taught = [Bags(table[training], users=training) for table in (one, two)]
    found = {}
    attack = attacks.Neural(pair_sizes=SIZES, pair_schedule=PLAN, device="cpu", seed=number).train(*taught)
    print("  mean reciprocal ranks among people held out:", " ".join(f"{x:.3f}" for x in attack.model_.curve))
    for each in (attack, attacks.Affinity(), attacks.ProfileBayes(), attacks.Overlap()):
        found[each.name] = np.asarray(measure.random_user(each, targets, queries).per_user)
    for size in (16, 32, 64):
        right = decomposition(one[training] + two[training], targets.counts, queries.counts, size)
        found[f"truncated SVD of {size}"] = right
    everyone = {name: np.full(one.shape[0], np.nan) for name in found}
    for name, right in found.items():
        everyone[name][rest] = right
    return everyone


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--splits", type=int, default=2)
    parser.add_argument("--first", type=int, default=0, help="number of the first split")
    chosen = parser.parse_args()
    runs = []
    for number in range(chosen.first, chosen.first + chosen.splits):
        runs.append(split(number))
        print(f"split {number}:", ", ".join(f"{name} {np.nanmean(x):.4f}" for name, x in runs[-1].items()), flush=True)
    # A person is met in several splits: their mean counts once.
    times = np.sum([~np.isnan(run["Neural"]) for run in runs], axis=0)
    met = times > 0
    each = {name: np.nansum([run[name] for run in runs], axis=0) / np.maximum(times, 1) for name in runs[0]}
    print(f"{chosen.splits} splits, {met.sum():,} people met as targets and queries")
    for name, right in each.items():
        low, high = mean_interval(right[met])
        print(f"{name}: {np.mean([np.nanmean(run[name]) for run in runs]):.4f} ({low:.4f} to {high:.4f})")
        if name != "Neural":
            gaps = [np.nanmean(run["Neural"] - run[name]) for run in runs]
            low, high = difference_interval(each["Neural"][met], right[met])
            over = f"over splits {min(gaps):+.4f} to {max(gaps):+.4f}"
            print(f"    Neural - {name}: {np.mean(gaps):+.4f} ({low:+.4f} to {high:+.4f}); {over}")


if __name__ == "__main__":
    main()
