"""Top sets of real people: which tokens exist and how large a set is, is declared, never read off the people."""

from pathlib import Path

import numpy as np

from reidrisk import io
from reidrisk.base import sizes
from reidrisk.base.errors import DataError, OptionError
from reidrisk.io.tables import open_table
from reidrisk.populations.type_mixture import TypeMixture
from reidrisk.records import TopSets
from reidrisk.release.spec import SetsSpec


def declared_sets(path: Path, spec: SetsSpec) -> TopSets:
    """Read top sets whose vocabulary and size are declared: read off the people, they would tell what somebody has."""
    said, words = open_table(path).metadata, spec.vocabulary
    declared = said.vocabulary if words is None else io.read_vocabulary(words)
    if declared is None:
        if _holds_labels(path):
            raise OptionError(
                f"{path}: its tokens are labels and nothing says which exist; give --vocabulary, a list that does not "
                "come from these people (--n-tokens is for tokens that are numbers)"
            )
        if spec.n_tokens is None and said.n_tokens is None:
            unknown = f"{path}: nothing says which tokens exist, and that must not be read off the people"
            raise OptionError(f"{unknown}; give --n-tokens, or --vocabulary where they have labels")
    top_k = said.k if spec.top_k is None else spec.top_k
    if top_k is None:
        unknown = f"{path}: nothing says how large a full set is, and that must not be read off the people"
        raise OptionError(f"{unknown}; give --top-k")
    sets = io.read_top_sets(path, spec.n_tokens if words is None else None, None if words is None else declared)
    return _of_size(path, sets, top_k)


def real_sets(path: Path, model: TypeMixture, spec: SetsSpec) -> TopSets:
    """Read the people for the internal report, over the model's tokens by default."""
    declared = None if spec.vocabulary is None else io.read_vocabulary(spec.vocabulary)
    if declared is None and open_table(path).metadata.vocabulary is None and _holds_labels(path):
        declared = model.vocabulary
    sets = io.read_top_sets(path, None if declared is not None else spec.n_tokens or model.n_tokens, declared)
    return _of_size(path, sets, spec.top_k or model.k)


def _holds_labels(path: Path) -> bool:
    # Read without a size: one that is too small for the labels would be complained about first.
    return io.read_top_sets(path).vocabulary is not None


def _of_size(path: Path, sets: TopSets, top_k: int) -> TopSets:
    """Return sets of ``top_k`` tokens, where what is missing is -1."""
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
