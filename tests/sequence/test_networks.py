"""The networks: what they may not see, missing tokens, and sequences laid side by side."""

import pytest

torch = pytest.importorskip("torch")

from reidrisk.sequence import PRESETS, Sizes, training_flops  # noqa: E402
from reidrisk.sequence.network import Lstm, Network, attend, nats, unrolled  # noqa: E402

TINY = Sizes(width=8, heads=2, mlp=16, encoder_layers=1, decoder_layers=2, hidden=12)


@pytest.fixture(params=["transformer", "lstm"])
def network(request):
    torch.manual_seed(0)
    return Network(TINY.with_decoder(request.param), n_tokens=7, n_epochs=4)


def tokens(*shape):
    return torch.randint(0, 7, shape, generator=torch.Generator().manual_seed(1))


def test_no_logit_depends_on_the_token_itself_or_later_ones(network):
    network.eval()
    source, target = tokens(3, 4), tokens(3, 4)
    before = network(source, target)
    changed = target.clone()
    changed[:, 2] = (changed[:, 2] + 1) % 7
    after = network(source, changed)
    assert torch.equal(before[:, :3], after[:, :3])
    assert not torch.allclose(before[:, 3], after[:, 3])


def test_every_source_token_counts(network):
    network.eval()
    source, target = tokens(2, 4), tokens(2, 4)
    for epoch in range(4):
        other = source.clone()
        other[:, epoch] = (other[:, epoch] + 1) % 7
        assert not torch.allclose(network(source, target), network(other, target))


def test_gradients_are_finite_and_missing_tokens_cost_nothing(network):
    source, target = tokens(5, 4), tokens(5, 4)
    source[0], source[1, 2], target[2], target[3, 1] = -1, -1, -1, -1
    cost = nats(network(source, target), target)
    assert bool((cost[target < 0] == 0).all())
    assert bool((cost[target >= 0] > 0).all())
    cost.sum().backward()
    gradients = [p.grad for p in network.parameters() if p.grad is not None]
    assert gradients
    assert all(bool(torch.isfinite(one).all()) for one in gradients)


def test_one_special_token_stands_for_no_source(network):
    target = tokens(2, 4)
    nothing = network.nothing(target)
    assert nothing.shape == (2, 1)
    assert int(nothing[0, 0]) not in range(-1, 8)  # neither of the vocabulary nor a missing one


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("u", [1, 4])
def test_rows_laid_side_by_side_do_not_see_each_other(causal, u):
    torch.manual_seed(0)
    t = 4
    if causal and u != t:
        pytest.skip("a decoder looks at itself")
    query, key, value = torch.randn(8, t, 2, 4), torch.randn(8, u, 2, 4), torch.randn(8, u, 2, 4)
    alone = attend(query, key, value, 0.0, causal)
    together = attend(query, key, value, 0.0, causal, together=4)
    assert torch.allclose(alone, together, atol=1e-6)


def test_what_stands_alone_is_seen_as_it_is_and_no_score_is_moved():
    query, key = (torch.randn(6, n, 2, 4, requires_grad=True) for n in (3, 1))
    value = torch.randn(6, 1, 2, 4)
    seen = attend(query, key, value, 0.0, causal=False)
    whole = [one.transpose(1, 2) for one in (query, key, value)]
    assert torch.allclose(seen, torch.nn.functional.scaled_dot_product_attention(*whole).transpose(1, 2), atol=1e-6)
    assert not seen.requires_grad


def test_operations_are_those_of_the_weights():
    sizes, r = PRESETS["paper"], 8
    network_weights = 6 * (4 * 1024**2 + 2 * 1024 * 4096) + 6 * (8 * 1024**2 + 2 * 1024 * 4096) + 1024 * 469
    counted = training_flops(sizes, 469, r, batch=1536, source_length=r)
    assert counted == pytest.approx(6 * 1536 * r * network_weights, rel=0.01)  # attention itself is under a hundredth


def test_an_lstm_written_out_is_the_librarys():
    torch.manual_seed(0)
    layer, library = Lstm(5, 6).double(), torch.nn.LSTM(5, 6, batch_first=True).double()
    library.load_state_dict(layer.state_dict())  # files written with the library's layer are read
    x = torch.randn(3, 4, 5, dtype=torch.float64, requires_grad=True)
    weights = list(layer.parameters())
    ways = {
        "written out": (unrolled(x, weights[0], weights[1], weights[2] + weights[3]), weights),
        "one call": (layer(x), weights),
    }
    theirs = library(x)[0]
    wanted = torch.autograd.grad(theirs.square().sum(), [x, *library.parameters()])
    for found, held in ways.values():
        assert torch.allclose(found, theirs, atol=1e-12)
        ours = torch.autograd.grad(found.square().sum(), [x, *held])
        assert all(torch.allclose(a, b, atol=1e-12) for a, b in zip(ours, wanted, strict=True))


def test_operations_of_an_lstm_are_those_of_the_weights():
    sizes, r = PRESETS["paper"].with_decoder("lstm"), 8
    lstm = 4 * 1024 * (8 * 1024 + 7 * 1024)  # inputs: width, then states and what was seen
    kept = 8 * 4 * 1024**2 * (r - 1) / r
    attention = 4 * 1024**2
    weights = 6 * (4 * 1024**2 + 2 * 1024 * 4096) + lstm + kept + attention + 2048 * 469
    counted = training_flops(sizes, 469, r, batch=1536, source_length=r)
    assert counted == pytest.approx(6 * 1536 * r * weights, rel=0.01)
