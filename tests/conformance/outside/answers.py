"""Answers of other packages; run by their own environment: a question as JSON on standard input, the answer as JSON."""

import json
import sys

import pandas as pd


def nearest(targets: list[list[str]], queries: list[list[str]]) -> list[list[float]]:
    """Return the distance of every target from every query, by anonymeter."""
    import anonymeter.evaluators  # noqa: F401  (its modules import each other; this one has to come first)
    from anonymeter.neighbors.mixed_types_kneighbors import MixedTypeKNeighbors

    known, asked = (pd.DataFrame(rows, dtype=object).add_prefix("epoch_") for rows in (targets, queries))
    search = MixedTypeKNeighbors(n_neighbors=len(known), n_jobs=1)
    search.fit(known, ctypes={"num": [], "cat": list(known.columns)})
    distances, places = search.kneighbors(asked, return_distance=True)
    rows = []
    for place, distance in zip(places, distances, strict=True):
        row = dict(zip(place.tolist(), distance.tolist(), strict=True))
        rows.append([row[i] for i in range(len(known))])
    return rows


def closeness(cohorts: list[int], visited: list[list[int]]) -> dict[str, float]:
    """Return k and the largest t over the categories, by pycanon."""
    from pycanon import anonymity

    frame = pd.DataFrame({"cohort": cohorts})
    distances = []
    for column in range(len(visited[0])):
        frame["visited"] = ["yes" if row[column] else "no" for row in visited]
        distances.append(float(anonymity.t_closeness(frame, ["cohort"], ["visited"])))
    return {"k": int(anonymity.k_anonymity(frame, ["cohort"])), "t": max(distances)}


question = json.load(sys.stdin)
print(json.dumps({"nearest": nearest, "closeness": closeness}[question.pop("of")](**question)))
