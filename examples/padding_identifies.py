"""What two sites learn of people who are away for weeks: how many are linked, by when the sites meet them.

Without arguments, on made-up visits of twelve people. With your own:

    python examples/padding_identifies.py --histories visits.parquet --override-list override_list.tsv \
        --taxonomy taxonomy.md --observers amazon.com youtube.com --seeds 20
"""

import argparse

import numpy as np
import polars as pl

from reidrisk import Traces, attacks, measure, topics

TOP_K, NOISE, WEEK = 5, 0.05, 7 * 86_400


def made_up() -> tuple[topics.Histories, topics.HostClassifier]:
    """Twelve people, twelve weeks, hosts of 300 topics; everybody is away in about half of the weeks."""
    rng = np.random.default_rng(0)
    taxonomy = topics.Taxonomy({i: f"/Topic {i}" for i in range(1, 301)})
    classifier = topics.HostClassifier(taxonomy, {f"t{i}.com": [i] for i in range(1, 301)})
    rows = []
    for user in range(12):
        favourites = rng.choice(40, size=8, replace=False) + 1
        for week in np.flatnonzero(rng.random(12) < 0.5):
            visited = [*(f"t{i}.com" for i in rng.choice(favourites, size=20)), *rng.permutation(["a.com", "b.com"])]
            rows += [(user, int(week) * WEEK + second, host) for second, host in enumerate(visited)]
    rows += [(user, 12 * WEEK - 1, "a.com") for user in range(12)]
    frame = pl.DataFrame(rows, schema=["user", "timestamp", "host"], orient="row")
    return topics.histories_from_frame(frame), classifier


def only_in(weeks: np.ndarray, site: Traces) -> Traces:
    """What the site sees if people come in these weeks only."""
    return Traces(np.where(weeks, site.tokens, -1), site.n_tokens)


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--histories")
parser.add_argument("--override-list")
parser.add_argument("--taxonomy")
parser.add_argument("--observers", nargs=2, default=["a.com", "b.com"])
parser.add_argument("--seeds", type=int, default=3)
options = parser.parse_args()
if options.histories is None:
    histories, classifier = made_up()
else:
    tree = topics.Taxonomy.read(options.taxonomy)
    classifier = topics.HostClassifier.from_override_list(options.override_list, tree)
    histories = topics.read_histories(options.histories, invalid="count")

api = topics.TopicsAPI(len(classifier.taxonomy), TOP_K, NOISE)
rates: dict[str, list[float]] = {}
for seed in range(options.seeds):
    found = topics.replay(histories, classifier, TOP_K, seed=seed)
    came = found.visits_to(options.observers)
    every = [api.expose(found.top_sets, seed, site) for site in options.observers]
    seen = {
        "always": every,
        "only the weeks without a visit": [only_in(~found.active, site) for site in every],
        "active": [only_in(found.active, site) for site in every],
        "visits": [
            api.observe(found.top_sets, seed, site, visits)
            for site, visits in zip(options.observers, came, strict=True)
        ],
    }
    for presence in ("always", "active"):
        seen[f"{presence}, by the specification"] = topics.browse(
            found, classifier, options.observers, noise=NOISE, presence=presence, seed=seed
        )
    for name, (one, two) in seen.items():
        risk = measure.random_user(attacks.WeightedHamming(TOP_K, NOISE), one, two)
        rates.setdefault(name, []).append(risk.rate)

print(
    f"right links of {histories.n_users} people over {options.seeds} seeds; guessing links {1 / histories.n_users:.0%}"
)
for name, each in rates.items():
    print(f"{name:32} mean {np.mean(each):4.0%}, lowest {min(each):4.0%}, highest {max(each):4.0%}")
