"""Neural: link to the target whose pair with the query a trained network finds most like one person's."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from reidrisk.attacks.base import Attack, Links
from reidrisk.attacks.neural import saved
from reidrisk.attacks.neural.users import TrainingUsers, check_pairs, marks_of_labels
from reidrisk.attacks.registry import register
from reidrisk.attacks.scored import Posed, ScoredAttack
from reidrisk.base.arrays import Ints
from reidrisk.base.errors import DataError, OptionError
from reidrisk.base.extras import require
from reidrisk.base.options import whole
from reidrisk.base.progress import Progress, Steps
from reidrisk.base.streams import checked_seed, stream
from reidrisk.io.atomic import PathLike
from reidrisk.records import Bags, Traces
from reidrisk.records.traces import TokenRecords
from reidrisk.search.engines import Engine
from reidrisk.sequence import Schedule, Sizes
from reidrisk.sequence.pairs import PairSchedule, PairSizes

if TYPE_CHECKING:
    from reidrisk.sequence import Trained
    from reidrisk.sequence.pairs.training import PairModel

_ROUND = 1 << 10  # steps of a tower's output: equal records stay equal, however many are embedded together
_ROWS = 8_192  # records embedded together


def _cost(targets: Any) -> Callable[[int], float]:
    """Return what it costs on two cores, once trained: placing the targets, and each pair."""
    return lambda n_queries: 1e-4 * len(targets) + 4e-7 * n_queries * len(targets)


@register(kinds=(Traces, Bags), cost=_cost, needs=("the extra neural", "training users"), default=False)
class Neural(ScoredAttack[TokenRecords]):
    r"""Link to the target with the highest logit of a pair network, trained on other people (carey, E.1.3, Figure 5).

    ``train`` learns an encoder and a pair network from two observers' records of people who are not among the targets:
    a Transformer's encoder states of every epoch, concatenated, for traces; a weighted mean of item vectors for bags,
    which starts from a truncated singular value decomposition. Both records go through a tower; product and difference
    of the two, and of traces which tokens agree, go through one layer of units to a logit
    (:mod:`reidrisk.sequence.pairs.network`). One positive and ten negative pairs for each user, binary cross-entropy;
    see :class:`reidrisk.sequence.pairs.PairSchedule` for harder negatives. Its optimum is log P(pair | one user) /
    P(pair | two users) plus a constant, which is what ranks targets best.

    Queries are compared with every target, on a GPU in low precision first, the best again in float64; or, with
    ``first``, with the ``keep`` best targets of another attack, such as ``WeightedHamming(5, 0.05)``: quicker without
    a GPU, and blind to whoever is not among them. Training users among the targets are refused: by their ids, or,
    where either side has none, because most records are the same.

    A network of traces takes records with as many epochs as it was trained on; with ``shorter`` of the pair schedule
    also those with fewer, both sides equally many.

    It gives no probability: how sure it is was not calibrated.

    >>> rng = np.random.default_rng(0)
    >>> people = rng.integers(6, size=(60, 3))
    >>> pair_sizes, short = PairSizes(tower=8, width=8, hidden=4), PairSchedule(steps=20, batch=16, look_every=10)
    >>> attack = Neural(Sizes(width=8, heads=1, mlp=8), pair_sizes, short, Schedule(passes=1, batch=16))
    >>> attack = attack.train(Traces(people[:40], 6), Traces(people[:40], 6))
    >>> attack.fit(Traces(people[40:], 6)).link(Traces(people[40:45], 6)).target.shape
    (5,)
    """

    def __init__(
        self,
        preset: str | Sizes = "small",
        pair_sizes: PairSizes | None = None,
        pair_schedule: PairSchedule | None = None,
        schedule: Schedule | None = None,
        first: Attack[Any] | None = None,
        keep: int = 100,
        seed: int = 0,
        device: str | None = None,
    ) -> None:
        self.preset, self.schedule = preset, schedule
        self.pair_sizes, self.pair_schedule = pair_sizes or PairSizes(), pair_schedule or PairSchedule()
        self.first, self.keep = first, whole("keep", keep)
        self.seed, self.device = checked_seed(seed), device

    @property
    def description(self) -> str:
        """What the attacker does and assumes."""
        among = "" if self.first is None else f" Only the {self.keep:,} best targets of {self.first.name} are compared."
        return (
            "A neural network, trained on two observers' records of other people, says how much like one person's two "
            f"records are. It needs such people, and learns whatever they show (carey, E.1.3).{among}"
        )

    def train(
        self,
        one: TokenRecords,
        two: TokenRecords,
        encoder: Trained | None = None,
        progress: Progress | None = None,
    ) -> Self:
        """Learn from two observers' records of the same people, row by row, who must not be among the targets.

        ``encoder`` is a sequence model that was trained before; default: one is trained here.
        """
        require("torch", "neural", "the neural attack")
        import torch

        from reidrisk.attacks.neural.records import BagPairs, TracePairs
        from reidrisk.sequence.pairs.training import learn_pairs

        check_pairs(one, two)
        where = torch.device(self.device or ("cuda" if torch.cuda.is_available() else "cpu"))
        steps = Steps(progress, 2.0)
        within = steps.within("learning-to-embed", 1.0)
        both: Any
        with torch.random.fork_rng(devices=range(torch.cuda.device_count()) if where.type == "cuda" else []):
            torch.manual_seed(int(stream(self.seed, "neural: start").integers(2**62)))
            if isinstance(one, Traces):
                assert isinstance(two, Traces)
                both = TracePairs(one, two, where, self.pair_schedule.shorter)
                model = self._of_traces(one, two, encoder, str(where), within)
            else:
                assert isinstance(two, Bags)
                both = BagPairs(one, two, where)
                model = self._of_bags(one, two)
            model.encoder.to(where)
            model.network.to(where)
            hear = steps.within("learning-pairs", 1.0)
            self.model_ = learn_pairs(model, both, len(one), self.pair_schedule, self.seed, hear)
        self.training_users_ = TrainingUsers.of(one, two)
        self._kind, self._labels, self._shorter = type(one).__name__, marks_of_labels(one), self.pair_schedule.shorter
        return self

    def _of_traces(self, one: Any, two: Any, encoder: Trained | None, where: str, progress: Progress) -> PairModel:
        from reidrisk.sequence import train
        from reidrisk.sequence.pairs.encoders import TraceEncoder
        from reidrisk.sequence.pairs.network import PairNetwork
        from reidrisk.sequence.pairs.training import PairModel

        if encoder is None:
            encoder = train(
                one.tokens,
                two.tokens,
                one.n_tokens,
                self.preset,
                self.schedule,
                self.seed,
                device=where,
                progress=progress,
            )
        elif (encoder.network.n_tokens, encoder.network.n_epochs) != (one.n_tokens, one.n_epochs):
            held = f"{encoder.network.n_tokens} tokens and {encoder.network.n_epochs} epochs"
            raise DataError(f"the encoder is for {held}, the records have {one.n_tokens} and {one.n_epochs}")
        found = TraceEncoder(encoder.network)
        network = PairNetwork(self.pair_sizes, found.size, one.n_tokens)
        seen = two.tokens[two.tokens >= 0]
        network.start_at(np.bincount(seen, minlength=one.n_tokens) / max(1, seen.size))
        return PairModel(found, network, notes=encoder.notes)

    def _of_bags(self, one: Any, two: Any) -> PairModel:
        from reidrisk.sequence.pairs.encoders import SetEncoder
        from reidrisk.sequence.pairs.network import PairNetwork
        from reidrisk.sequence.pairs.training import PairModel, divided

        # Of users held out the items hear nothing, as of targets: else they would know these pairs beforehand.
        training, _ = divided(len(one), self.pair_schedule, self.seed)
        found = SetEncoder(one.n_tokens, self.pair_sizes.items)
        found.start_from((one.counts + two.counts).tocsr()[np.sort(training)], self.seed)
        return PairModel(found, PairNetwork(self.pair_sizes, found.size))

    def fit(self, targets: TokenRecords) -> Self:
        """Place the targets; training users among them are refused."""
        self._refuse_untrained()
        placed = self._checked(targets)
        self.training_users_.refuse(targets)
        self._n_epochs = getattr(targets, "n_epochs", 0)
        from reidrisk.attacks.neural.scorer import PairScorer

        self._scorer = PairScorer(self.model_.network)
        self._known = self._placed(placed, asked=False)
        if self.first is not None:
            self.first.fit(targets)
        return self

    def _posed(self, queries: TokenRecords) -> Posed:
        self._refuse_unfitted("_known")
        asked = self._checked(queries)
        if (epochs := getattr(queries, "n_epochs", 0)) != self._n_epochs:
            raise DataError(f"the targets have {self._n_epochs} epochs, the queries {epochs}")
        return Posed(self._scorer, self._known, self._placed(asked, asked=True))

    def _placed(self, table: Any, asked: bool) -> Any:
        import torch

        from reidrisk.attacks.neural.records import distinct_rows, items_of
        from reidrisk.attacks.neural.scorer import Encoded
        from reidrisk.sequence.pairs.network import Tower

        model, exact = self.model_, self._scorer.exact
        # Each distinct record is embedded once: equal records must be equal to the last bit.
        first, group = distinct_rows(table)
        vectors, tokens = [], None
        with torch.inference_mode():
            if isinstance(table, Traces):
                tokens = torch.from_numpy(np.array(table.tokens, dtype=np.int32)).to(model.device)
            for start in range(0, len(first), _ROWS):
                rows = first[start : start + _ROWS]
                given = items_of(table.counts[rows], model.device) if tokens is None else tokens[rows].long()
                vectors.append(torch.round(model.side(given, None, asked).vector * _ROUND) / _ROUND)
            vector = torch.cat(vectors).double()
            projected = (exact.asked if asked else exact.known)(vector)
            place = torch.from_numpy(group).to(model.device)
            side = Tower(vector[place], projected[place], tokens)
        return Encoded(side, group)

    def link(self, queries: TokenRecords, probability: bool = False, *, engine: Engine | None = None) -> Links:
        """Link every query to its best target: of all, or of those that the first attack kept."""
        if self.first is None:
            return super().link(queries, engine=engine)
        rows, scores = self._ranked(queries, engine)
        n_ties = (scores == scores[:, :1]).sum(axis=1)
        return Links(target=rows[:, 0], score=scores[:, 0], n_ties=n_ties)

    def candidates(
        self, queries: TokenRecords, k: int, among: Ints | None = None, *, engine: Engine | None = None
    ) -> tuple[Ints, Ints]:
        """Return the k best targets of each query and their scores, best first."""
        if self.first is None or among is not None:
            return super().candidates(queries, k, among, engine=engine)
        rows, scores = self._ranked(queries, engine)
        if not 1 <= k <= rows.shape[1]:
            raise OptionError(f"the first attack keeps {rows.shape[1]:,} targets; ask for 1 to that many, not {k}")
        return rows[:, :k], scores[:, :k]

    def near_best(self, queries: TokenRecords, reach: Ints) -> Any:
        """Return the score of every pair; ``None`` where another attack chooses whom to compare."""
        return None if self.first is not None else super().near_best(queries, reach)

    def _ranked(self, queries: TokenRecords, engine: Engine | None) -> tuple[Ints, Ints]:
        """Return the first attack's best targets in the order of the network's scores, equals by row."""
        assert self.first is not None
        posed = self._posed(queries)
        rows, _ = self.first.candidates(queries, min(self.keep, len(self._known)), engine=engine)
        scores = self._scorer.among(posed.targets, posed.queries, rows)
        order = np.lexsort((rows, -scores), axis=1)
        return np.take_along_axis(rows, order, axis=1), np.take_along_axis(scores, order, axis=1)

    def save(self, path: PathLike) -> None:
        """Write what was learnt, and marks of who trained, to a file of tensors and plain values."""
        self._refuse_untrained()
        saved.write(saved.Learned(self.model_, self.training_users_, self._kind, self._labels, self._shorter), path)

    @classmethod
    def load(cls, path: PathLike, first: Attack[Any] | None = None, keep: int = 100, device: str | None = None) -> Self:
        """Read what :meth:`save` wrote; nothing in the file is run."""
        require("torch", "neural", "the neural attack")
        found = saved.read_learned(path, device)
        new = cls(pair_sizes=found.model.network.sizes, first=first, keep=keep, device=device)
        new.model_, new.training_users_ = found.model, found.users
        new._kind, new._labels, new._shorter = found.kind, found.labels, found.shorter
        return new

    def _refuse_untrained(self) -> None:
        if not hasattr(self, "model_"):
            raise OptionError(f"{self.name} has not learnt yet; call train(one, two) on other people, or load a file")

    def _checked(self, table: Any) -> Any:
        """Refuse what it was not trained for; of shorter records, if it was, the end is missing."""
        if type(table).__name__ != self._kind:
            raise DataError(f"the attack was trained on {self._kind}, and these are {type(table).__name__}")
        encoder = self.model_.encoder.described()
        if table.n_tokens != encoder["n_tokens"]:
            there = f"the attack was trained over {encoder['n_tokens']:,} tokens, these records are over"
            raise DataError(f"{there} {table.n_tokens:,}; train one on this vocabulary")
        labels = marks_of_labels(table)
        if labels and self._labels and labels != self._labels:
            raise DataError("the attack was trained over other labels of tokens; train one on this vocabulary")
        missing = encoder["n_epochs"] - getattr(table, "n_epochs", 0)
        if missing < 0 or (missing and not self._shorter):
            raise DataError(f"the attack was trained on {encoder['n_epochs']} epochs, these have {table.n_epochs}")
        if not missing:
            return table
        from reidrisk.attacks.neural.records import with_missing_end

        return with_missing_end(table, missing)
