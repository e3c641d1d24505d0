"""Training: it learns what is there, the same way each time, and continues where it was left."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from reidrisk.base.errors import DataError, FormatError, OptionError  # noqa: E402
from reidrisk.sequence import Schedule, Sizes, Trained, train, training  # noqa: E402

TINY = Sizes(
    width=16, heads=2, mlp=32, encoder_layers=1, decoder_layers=1, hidden=16, dropout=0.0, attention_dropout=0.0
)
QUICK = Schedule(batch=64, passes=6, learning_rate=1e-2, warm_up=5)


@pytest.fixture(scope="module")
def pair():
    """A second observer who sees the first one's token, or in one case of four any."""
    rng = np.random.default_rng(3)
    one = rng.integers(5, size=(600, 3))
    two = np.where(rng.random(one.shape) < 0.25, rng.integers(5, size=one.shape), one)
    return one, two


@pytest.fixture(scope="module")
def learnt(pair):
    return train(*pair, 5, TINY, QUICK, seed=1)


def test_the_learning_curve_falls(learnt):
    assert learnt.curve[-1] < learnt.curve[0] - 0.3
    # H = 0.8 log(1/0.8) + 4 * 0.05 log(1/0.05) = 1.12 bits: no model is below it by more than chance
    assert 1.0 < learnt.bits < 2.0


def test_ten_users_are_learnt_by_heart():
    ten = np.random.default_rng(0).integers(9, size=(10, 4))
    often = np.tile(ten, (6, 1))  # so that those held out are the same ten
    plan = Schedule(batch=48, passes=150, learning_rate=1e-2, warm_up=5, patience=150, look_every=30)
    found = train(None, often, 9, TINY, plan)
    assert found.bits < np.log2(10) / 4 + 0.25  # no more than which of ten users it is


def test_same_seed_same_model(pair, learnt):
    again, other = train(*pair, 5, TINY, QUICK, seed=1), train(*pair, 5, TINY, QUICK, seed=2)
    assert again.curve == learnt.curve
    assert all(torch.equal(a, b) for a, b in zip(again.network.parameters(), learnt.network.parameters(), strict=True))
    assert other.curve != learnt.curve


def test_a_training_leaves_the_random_numbers_of_others_alone(pair):
    torch.manual_seed(5)
    before = torch.get_rng_state()
    train(*pair, 5, TINY, Schedule(batch=64, passes=1))
    assert torch.equal(before, torch.get_rng_state())


def test_a_resumed_training_is_the_same_to_the_last_bit(pair, tmp_path, monkeypatch):
    sizes = Sizes(width=8, heads=1, mlp=8, encoder_layers=1, decoder_layers=1, dropout=0.2, attention_dropout=0.2)
    whole = train(*pair, 5, sizes, QUICK, seed=4)
    calls = []

    def interrupt(said, share):
        calls.append(said)
        if len(calls) == 3:
            raise KeyboardInterrupt

    file = tmp_path / "half.pt"
    with pytest.raises(KeyboardInterrupt):
        train(*pair, 5, sizes, QUICK, seed=4, checkpoint=file, progress=interrupt)
    resumed = train(*pair, 5, sizes, QUICK, seed=4, checkpoint=file)
    assert resumed.curve == whole.curve
    assert np.array_equal(resumed.nats, whole.nats)
    assert all(torch.equal(a, b) for a, b in zip(resumed.network.parameters(), whole.network.parameters(), strict=True))
    with pytest.raises(DataError, match="another training"):
        train(*pair, 5, sizes, QUICK, seed=5, checkpoint=file)


def test_parts_of_a_step_add_up(pair):
    from dataclasses import replace

    whole = train(*pair, 5, TINY, replace(QUICK, passes=2, batch=60))
    parts = train(*pair, 5, TINY, replace(QUICK, passes=2, batch=60, accumulate=3))
    assert parts.curve == pytest.approx(whole.curve, rel=1e-3)


def test_a_loss_that_is_no_number_stops_and_keeps_the_last_good_state(pair, monkeypatch):
    real, steps = training.nats, []

    def broken(logits, target):
        if logits.requires_grad:
            steps.append(1)
        return real(logits, target) * (float("nan") if len(steps) > 20 and logits.requires_grad else 1.0)

    monkeypatch.setattr(training, "nats", broken)
    found = train(*pair, 5, TINY, QUICK, seed=1)
    assert [note.code for note in found.notes] == ["training-not-finite"]
    assert np.isfinite(found.bits)
    assert len(found.curve) == 2  # looks after 7 and 14 steps were good
    assert found.steps == 21


def test_a_loss_that_never_is_a_number_is_refused(pair, monkeypatch):
    monkeypatch.setattr(training, "nats", lambda logits, target: logits.sum(dim=2) * float("nan"))
    with pytest.raises(DataError, match="learning rate"):
        train(*pair, 5, TINY, QUICK)


def test_save_and_load_are_equal(learnt, pair, tmp_path):
    learnt.save(tmp_path / "model.pt")
    again = Trained.load(tmp_path / "model.pt", n_tokens=5)
    assert np.array_equal(again.embed(pair[0]), learnt.embed(pair[0]))
    assert np.array_equal(again.evaluate(*pair)[0], learnt.evaluate(*pair)[0])
    assert learnt.embed(pair[0]).shape == (600, 3 * 16)


def test_a_model_of_another_vocabulary_or_no_model_is_refused(learnt, tmp_path):
    learnt.save(tmp_path / "model.pt")
    with pytest.raises(DataError, match="5 tokens"):
        Trained.load(tmp_path / "model.pt", n_tokens=6)
    (tmp_path / "text.pt").write_text("no model")
    with pytest.raises(FormatError, match="damaged"):
        Trained.load(tmp_path / "text.pt")
    with pytest.raises(FormatError, match="no such file"):
        Trained.load(tmp_path / "absent.pt")


@pytest.mark.parametrize(
    ("source", "target", "complaint"),
    [
        (np.zeros((4, 2), int), np.zeros((4, 2), int), "at least 10"),
        (np.zeros((20, 2), int), np.zeros((21, 2), int), "same user"),
        (np.zeros((20, 3), int), np.zeros((20, 2), int), "2 epochs"),
        (None, np.full((20, 2), 9), "outside"),
        (None, np.zeros((20, 2)), "whole numbers"),
    ],
)
def test_bad_input_is_refused(source, target, complaint):
    with pytest.raises(DataError, match=complaint):
        train(source, target, 5, TINY)


def test_bad_sizes_are_refused():
    with pytest.raises(OptionError, match="multiple of the 3 heads"):
        Sizes(width=16, heads=3)
    with pytest.raises(OptionError, match="no preset"):
        train(None, np.zeros((20, 2), int), 5, "huge")
    with pytest.raises(OptionError, match="learning_rate"):
        Schedule(learning_rate=0.0)


def test_missing_tokens_are_neither_predicted_nor_counted():
    rng = np.random.default_rng(1)
    seen = rng.integers(3, size=(200, 4))
    seen[rng.random(seen.shape) < 0.3] = -1
    found = train(seen, seen, 3, TINY, Schedule(batch=32, passes=2))
    assert found.observed.sum() == (seen[found.measured] >= 0).sum()
    assert np.isfinite(found.nats).all()
