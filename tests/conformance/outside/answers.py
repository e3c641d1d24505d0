"""Answers of other packages; run by their own environment: a question as JSON on standard input, the answer as JSON."""

import json
import sys
import time

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


def classes(columns: list[str], rows: list[list[str]] | None = None, path: str = "") -> dict[str, float]:
    """Return k, the number of equivalence classes and the seconds taken, by pycanon."""
    from pycanon import anonymity
    from pycanon.anonymity.utils.aux_anonymity import get_equiv_class

    frame = pd.DataFrame(rows, columns=columns) if rows else pd.read_csv(path, skipinitialspace=True, dtype=str)
    began = time.perf_counter()
    k, found = anonymity.k_anonymity(frame, columns), get_equiv_class(frame, columns)
    return {"k": int(k), "classes": len(found), "n": len(frame), "seconds": time.perf_counter() - began}


def agreement_by_recordlinkage(known: dict[str, list[str]], asked: dict[str, list[str]]) -> dict[str, object]:
    """Return m and u of equal values, and the likeliest row of each row asked, by recordlinkage."""
    import recordlinkage

    frames = [pd.DataFrame(table) for table in (known, asked)]
    index, compare, model = recordlinkage.Index(), recordlinkage.Compare(), recordlinkage.ECMClassifier()
    index.full()
    for name in known:
        compare.exact(name, name, label=name)
    features = compare.compute(index.index(*frames), *frames)
    model.fit(features)
    best = model.prob(features).groupby(level=1).idxmax()
    return {
        "m": {name: model.m_probs[name][1] for name in known},
        "u": {name: model.u_probs[name][1] for name in known},
        "links": [int(pair[0]) for pair in best.sort_index()],
    }


def agreement_by_splink(known: dict[str, list[str]], asked: dict[str, list[str]], rare: bool) -> dict[str, object]:
    """Return m and u of equal values, and the likeliest row of each row asked, by Splink."""
    import splink.comparison_library as comparisons
    from splink import DuckDBAPI, Linker, SettingsCreator

    frames = [pd.DataFrame(table).assign(unique_id=range(len(table["a"]))) for table in (known, asked)]
    compared = [comparisons.ExactMatch(name).configure(term_frequency_adjustments=rare) for name in known]
    settings = SettingsCreator(
        link_type="link_only",
        comparisons=compared,
        blocking_rules_to_generate_predictions=["1=1"],
        probability_two_random_records_match=1.0 / len(frames[0]),
    )
    database = DuckDBAPI()
    tables = [database.register(f, dataset_display_name=n) for f, n in zip(frames, ("known", "asked"), strict=True)]
    linker = Linker(tables, settings)
    linker.training.estimate_u_using_random_sampling(max_pairs=1e8)
    linker.training.estimate_parameters_using_expectation_maximisation("1=1", fix_u_probabilities=True)
    m, u = {}, {}
    for found in linker.misc.save_model_to_json()["comparisons"]:
        name = found["output_column_name"]
        equal = next(level for level in found["comparison_levels"] if not level.get("is_null_level"))
        m[name], u[name] = equal["m_probability"], equal["u_probability"]
    pairs = linker.inference.predict(threshold_match_weight=-1e6).as_pandas_dataframe()
    turned = pairs["source_dataset_l"] != "known"
    sides = (
        pairs["unique_id_l"].where(~turned, pairs["unique_id_r"]),
        pairs["unique_id_r"].where(~turned, pairs["unique_id_l"]),
    )
    pairs = pairs.assign(known=sides[0], asked=sides[1]).sort_values("match_weight", ascending=False)
    best = pairs.drop_duplicates("asked").sort_values("asked")
    return {"m": m, "u": u, "links": [int(row) for row in best["known"]]}


question = json.load(sys.stdin)
answers = {one.__name__: one for one in (nearest, closeness, classes, agreement_by_recordlinkage, agreement_by_splink)}
print()  # what packages say of their progress ends here
print(json.dumps(answers[question.pop("of")](**question)))
