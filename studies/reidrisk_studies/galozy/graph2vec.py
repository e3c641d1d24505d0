"""Graph2Vec: graphs to vectors by the words that their neighbourhoods spell (Narayanan et al., 2017)."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from reidrisk.base.errors import DataError, OptionError
from reidrisk.base.extras import require
from reidrisk.base.streams import stream


def neighbourhood_words(graph: Any, depth: int = 2) -> list[str]:
    """Spell a graph: the Weisfeiler-Lehman labels of all nodes, from their degree to what lies ``depth`` steps around.

    Graphs of the same shape have the same words, whatever their nodes are called.

    Examples
    --------
    >>> import networkx as nx
    >>> neighbourhood_words(nx.path_graph(3), depth=0)
    ['1', '2', '1']
    >>> a, b = nx.path_graph(4), nx.relabel_nodes(nx.path_graph(4), {0: "x", 1: "y", 2: "z", 3: "w"})
    >>> sorted(neighbourhood_words(a)) == sorted(neighbourhood_words(b))
    True
    """
    labels = {node: str(degree) for node, degree in graph.degree()}
    words = list(labels.values())
    for _ in range(depth):
        labels = {
            node: hashlib.sha256("_".join([label, *sorted(labels[near] for near in graph[node])]).encode()).hexdigest()
            for node, label in labels.items()
        }
        words += labels.values()
    return words


def graph2vec(
    graphs: Sequence[Any], dimensions: int = 128, depth: int = 2, epochs: int = 10, min_count: int = 5, seed: int = 0
) -> npt.NDArray[np.float64]:
    """Embed graphs: Doc2Vec (bag of words) of their neighbourhood words.

    The defaults are those of the karateclub package, which the paper used.

    Parameters
    ----------
    graphs : sequence of networkx graphs
        One per user.
    dimensions : int
        Length of a vector.
    depth : int
        Steps around a node that a word covers.
    epochs : int
        Passes over the words.
    min_count : int
        Words that occur less often in all graphs are left out.
    seed : int
        Seed; one thread, so that the same seed gives the same vectors.

    Examples
    --------
    >>> import networkx as nx
    >>> graph2vec([nx.path_graph(5), nx.star_graph(5)], dimensions=4, min_count=1).shape
    (2, 4)
    """
    if dimensions < 1 or epochs < 1 or min_count < 1 or depth < 0:
        raise OptionError("dimensions, epochs and min_count must be at least 1, depth at least 0")
    library = require("gensim.models.doc2vec", "all", "Graph2Vec", folder="./studies")
    words = [neighbourhood_words(graph, depth) for graph in graphs]
    if max(Counter(word for spelled in words for word in spelled).values(), default=0) < min_count:
        raise DataError(f"no word occurs {min_count} times in these {len(words)} graphs; choose a lower min_count")
    documents = [library.TaggedDocument(spelled, [str(i)]) for i, spelled in enumerate(words)]
    model = library.Doc2Vec(
        documents,
        vector_size=dimensions,
        window=0,
        min_count=min_count,
        dm=0,
        sample=0.0001,
        workers=1,
        epochs=epochs,
        alpha=0.025,
        seed=int(stream(seed, "graph2vec").integers(2**31)),
        hashfxn=_fixed_hash,
    )
    return np.array([model.dv[str(i)] for i in range(len(words))], dtype=np.float64)


def _fixed_hash(text: str) -> int:
    """Hash a text the same way in every process, unlike the built-in function."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "little")
