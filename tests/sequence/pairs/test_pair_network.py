"""The pair network: its layer splits as it says, and agreements are those of a plain loop."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from reidrisk.base.errors import OptionError  # noqa: E402
from reidrisk.sequence.pairs import PairSchedule, PairSizes  # noqa: E402
from reidrisk.sequence.pairs.network import PairNetwork, Tower, agreements  # noqa: E402


@pytest.fixture
def network():
    torch.manual_seed(0)
    made = PairNetwork(PairSizes(tower=8, width=6, hidden=5), embedding=7, n_tokens=9).double().eval()
    made.start_at(np.full(9, 1 / 9))
    return made


def sides(network, q=4, n=11, r=3):
    rng = torch.Generator().manual_seed(2)
    shown, known = (torch.randint(-1, 9, (size, r), generator=rng) for size in (q, n))
    vectors = [torch.randn(size, 7, generator=rng, dtype=torch.float64) for size in (q, n)]
    return network.side(vectors[0], shown, asked=True), network.side(vectors[1], known, asked=False)


def twin(asked, known):
    r, found = len(asked), []
    for kind in range(3):
        for s in range(r):
            o = asked[s]
            held = sum(o == w for w in known) if o >= 0 else 0
            same = int(o >= 0 and o == known[s])
            first = o not in asked[:s]
            found.append([same, int(held > 0 and first), held - same][kind])
    return found


def test_agreements_are_those_of_a_plain_loop(network):
    queries, targets = sides(network)
    found = agreements(queries.tokens, targets.tokens)
    for i, asked in enumerate(queries.tokens.tolist()):
        for j, known in enumerate(targets.tokens.tolist()):
            assert found[i, j].tolist() == twin(asked, known)


def test_the_layer_is_products_differences_and_agreements(network):
    queries, targets = sides(network)
    logits = network.logits(queries, targets)
    q, t = queries.vector[1], targets.vector[2]
    units = network.asked(q) + network.known(t) + (q * t) @ network.product
    for feature, worth in zip(
        twin(queries.tokens[1].tolist(), targets.tokens[2].tolist()), network.tables(queries)[1], strict=True
    ):
        units = units + feature * worth
    expected = units[0] + torch.relu(units[1:]) @ network.last[1:]
    assert logits[1, 2].item() == pytest.approx(expected.item(), abs=1e-10)


def test_candidates_score_as_in_the_whole_table(network):
    queries, targets = sides(network)
    rows = torch.tensor([[0, 3], [1, 1], [10, 2], [5, 4]])
    found = network.among(queries, targets.rows(rows))
    assert torch.allclose(found, torch.gather(network.logits(queries, targets), 1, rows), atol=1e-10)


def test_without_tokens_nothing_is_said_of_agreement(network):
    queries, targets = sides(network)
    bare = [Tower(side.vector, side.projected, None) for side in (queries, targets)]
    assert not torch.allclose(network.logits(*bare), network.logits(queries, targets))


def test_gradients_are_finite_where_all_tokens_are_missing(network):
    queries, targets = sides(network)
    gone = [Tower(s.vector, s.projected, torch.full_like(s.tokens, -1)) for s in (queries, targets)]
    network.logits(*gone).sum().backward()
    assert all(bool(torch.isfinite(p.grad).all()) for p in network.parameters() if p.grad is not None)


def test_bad_sizes_are_refused():
    with pytest.raises(OptionError, match="width"):
        PairSizes(width=1)
    with pytest.raises(OptionError, match="batch"):
        PairSchedule(batch=1)
