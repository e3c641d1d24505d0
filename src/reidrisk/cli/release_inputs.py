"""What `reidrisk release` reads and where it writes: nothing that is published is read off the people but counts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from reidrisk.base.errors import DataError, OptionError

if TYPE_CHECKING:
    from reidrisk.records import TopSets
    from reidrisk.release import TypeMixture
    from reidrisk.release.spec import SetsSpec


def declared_sets(path: Path, spec: SetsSpec) -> TopSets:
    """Read top sets whose vocabulary and size are declared: read off the people, they would tell what somebody has."""
    from reidrisk import io
    from reidrisk.io.tables import open_table

    said, words = open_table(path).metadata, spec.vocabulary
    declared = said.vocabulary if words is None else io.read_vocabulary(words)
    if declared is None:
        if _holds_labels(path):
            raise OptionError(
                f"{path}: its tokens are labels and nothing says which exist; give --vocabulary, a list that does not "
                "come from these people (--n-tokens is for tokens that are numbers)"
            )
        if spec.n_tokens is None and said.n_tokens is None:
            raise OptionError(
                f"{path}: nothing says which tokens exist, and that must not be read off the people; "
                "give --n-tokens, or --vocabulary where they have labels"
            )
    top_k = said.k if spec.top_k is None else spec.top_k
    if top_k is None:
        raise OptionError(
            f"{path}: nothing says how large a full set is, and that must not be read off the people; give --top-k"
        )
    sets = io.read_top_sets(path, spec.n_tokens if words is None else None, None if words is None else declared)
    return _of_size(path, sets, top_k)


def real_sets(path: Path, model: TypeMixture, spec: SetsSpec) -> TopSets:
    """Read the people for the internal report, over the model's tokens by default."""
    from reidrisk import io
    from reidrisk.io.tables import open_table

    declared = None if spec.vocabulary is None else io.read_vocabulary(spec.vocabulary)
    if declared is None and open_table(path).metadata.vocabulary is None and _holds_labels(path):
        declared = model.vocabulary
    sets = io.read_top_sets(path, None if declared is not None else spec.n_tokens or model.n_tokens, declared)
    return _of_size(path, sets, spec.top_k or model.k)


def _holds_labels(path: Path) -> bool:
    from reidrisk import io

    # Read without a size: one that is too small for the labels would be complained about first.
    return io.read_top_sets(path).vocabulary is not None


def _of_size(path: Path, sets: TopSets, top_k: int) -> TopSets:
    import numpy as np

    from reidrisk import TopSets
    from reidrisk.base import sizes

    if top_k == sets.k:
        return sets
    if top_k > sets.n_tokens:
        shown = f"{top_k:,}" if top_k < 10**18 else "more than 10^18"
        raise DataError(f"{path}: sets of {shown} tokens cannot come from {sets.n_tokens:,}; give a smaller --top-k")
    if top_k < sets.k:
        raise DataError(f"{path}: a set holds {sets.k} tokens, more than the {top_k} of --top-k")
    cells = len(sets) * sets.n_epochs * top_k
    sizes.CELLS.check(cells, f"{path}, as sets of {top_k:,} tokens", "give a smaller --top-k")
    longer = np.full((len(sets), sets.n_epochs, top_k), -1, dtype=sets.tokens.dtype)
    longer[:, :, : sets.k] = sets.tokens
    return TopSets(longer, sets.n_tokens, sets.users, sets.vocabulary, sets.made_with_seed)


def read_model(path: Path) -> TypeMixture:
    """Read a model of either layout; both need a privacy statement."""
    from reidrisk import release as api

    return api.read_parameters(path) if path.suffix == ".json" else api.TypeMixture.load(path)


def keep_apart(internal: Path, published: tuple[Path | None, ...]) -> None:
    """Refuse an internal report in a folder that is going to be published."""
    for folder in published:
        if folder is not None and folder.resolve() in internal.resolve().parents:
            raise OptionError(
                f"{internal} is inside {folder}, which is for publication; keep the internal report apart"
            )
