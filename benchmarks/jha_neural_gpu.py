"""Train the neural attack of the study `jha-ceiling-full` on a GPU, one population at a time, and keep it in a file.

Needs torch, NumPy, SciPy and numba, and the rates of jha (REIDRISK_DATA).
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from pathlib import Path

from reidrisk_studies.jha.ceiling import AT, FULL, MODELS, learnt
from reidrisk_studies.jha.people import find_people


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS))
    parser.add_argument("--training", type=int, default=FULL.training)
    parser.add_argument("--steps", type=int, default=FULL.steps)
    parser.add_argument("--batch", type=int, default=FULL.batch)
    parser.add_argument("--out", default=".", help="folder for the trained attacks")
    chosen = parser.parse_args()
    import torch

    if not torch.cuda.is_available():
        print("there is no GPU here: nothing to measure (the study jha-ceiling trains a small one)")
        return
    torch.set_float32_matmul_precision("high")
    people, size = find_people(), replace(FULL, training=chosen.training, steps=chosen.steps, batch=chosen.batch)
    for model in chosen.models:
        began = time.perf_counter()
        attack = learnt(people, model, size, seed=0)
        print(f"{model}, {AT} epochs, {size}: {time.perf_counter() - began:.0f} s")
        print("    mean reciprocal ranks", " ".join(f"{x:.3f}" for x in attack.model_.curve), flush=True)
        attack.save(Path(chosen.out) / f"jha-{model}.pt")


if __name__ == "__main__":
    main()
