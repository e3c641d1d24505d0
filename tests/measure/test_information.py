"""Bits of records: closed forms, counts with their bias, and sequence models where the answer is known."""

import numpy as np
import pytest

from reidrisk import Channel, Traces
from reidrisk.base.errors import DataError, OptionError
from reidrisk.measure import Independence, Information, exact_information, independence, information

JOINT = np.array([[0.3, 0.1, 0.0], [0.05, 0.25, 0.1], [0.0, 0.05, 0.15]])


def drawn(n, r=1, seed=0):
    rng = np.random.default_rng(seed)
    both = rng.choice(9, size=(n, r), p=JOINT.ravel())
    return Traces(both // 3, 3), Traces(both % 3, 3)


def test_a_known_distribution_is_the_sum_over_its_cells():
    a, b = JOINT.sum(axis=1), JOINT.sum(axis=0)
    cells = [JOINT[i, j] * np.log2(JOINT[i, j] / (a[i] * b[j])) for i in range(3) for j in range(3) if JOINT[i, j]]
    found = exact_information(JOINT)
    assert found.mutual.value == pytest.approx(sum(cells), abs=1e-12)
    assert found.entropy.value == pytest.approx(-(b * np.log2(b)).sum(), abs=1e-12)
    assert found.entropy.value - found.conditional.value == pytest.approx(found.mutual.value, abs=1e-12)


def test_two_observers_of_a_channel_share_what_rows_tell():
    from scipy import sparse

    matrix = np.array([[0.7, 0.2, 0.1], [0.1, 0.1, 0.8]])
    weights = np.array([0.25, 0.75])
    joint = sum(w * np.outer(row, row) for w, row in zip(weights, matrix, strict=True))
    for channel in (Channel(matrix), Channel(sparse.csr_array(matrix))):
        assert exact_information(channel, weights).mutual.value == pytest.approx(exact_information(joint).mutual.value)
    assert exact_information(Channel([[0.5, 0.5]] * 4)).mutual.value == pytest.approx(0.0, abs=1e-12)


def test_counts_are_near_and_the_correction_takes_bias_away():
    truth = exact_information(JOINT)
    plugged, corrected = [], []
    for seed in range(40):
        pair = drawn(60, seed=seed)
        plugged.append(information(*pair, method="plug-in").mutual.value)
        corrected.append(information(*pair, method="miller-madow").mutual.value)
    assert abs(np.mean(corrected) - truth.mutual.value) < abs(np.mean(plugged) - truth.mutual.value)
    large = information(*drawn(50_000), method="miller-madow")
    assert large.mutual.value == pytest.approx(truth.mutual.value, abs=0.02)
    assert large.conditional.value == pytest.approx(truth.conditional.value, abs=0.02)


def test_intervals_hold_the_answer_about_as_often_as_they_say():
    truth, held = exact_information(JOINT).mutual.value, 0
    for seed in range(60):
        found = information(*drawn(400, seed=seed), method="miller-madow", seed=seed, level=0.9)
        held += found.mutual.low <= truth <= found.mutual.high
    assert held >= 48


def test_epochs_are_taken_apart_and_gaps_left_out():
    one, two = drawn(2_000, r=2)
    found = information(one, two, method="plug-in")
    each = [information(Traces(one.tokens[:, [s]], 3), Traces(two.tokens[:, [s]], 3), method="plug-in") for s in (0, 1)]
    assert found.mutual.value == pytest.approx(np.mean([part.mutual.value for part in each]))
    assert [note.code for note in found.notes] == ["epochs-apart"]
    gaps = one.tokens.copy()
    gaps[:500, 0] = -1
    assert "epochs-not-observed" in [note.code for note in information(Traces(gaps, 3), two, "plug-in").notes]


def test_a_result_comes_back_from_json():
    found = information(*drawn(100), method="plug-in")
    assert Information.from_json(found.to_json()) == found
    assert found.per_user is not None
    assert "per_user" not in found.to_dict()


def test_sequence_models_find_what_independent_epochs_share():
    pytest.importorskip("torch")
    from reidrisk.sequence import Schedule, Sizes

    sizes = Sizes(width=16, heads=2, mlp=32, encoder_layers=1, decoder_layers=1, dropout=0.0)
    one, two = drawn(3_000, r=2)
    heard = []
    found = independence(
        one,
        two,
        "miller-madow",
        sizes,
        Schedule(batch=128, passes=8, learning_rate=8e-3, warm_up=10),
        device="cpu",
        progress=lambda said, share: heard.append(share),
    )
    truth = exact_information(JOINT).mutual.value
    assert found.together.mutual.value == pytest.approx(truth, abs=0.12)
    assert found.apart.mutual.value == pytest.approx(truth, abs=0.05)
    assert found.gap.low <= found.gap.value <= found.gap.high
    assert found.together.notes[0].code == "difference-of-cross-entropies"
    assert Independence.from_json(found.to_json()) == found
    assert heard == sorted(heard)


@pytest.mark.parametrize(
    ("arguments", "error", "complaint"),
    [
        ((Traces([[1]] * 3, 2), Traces([[1]] * 4, 2)), DataError, "3 and 4 users"),
        ((Traces([[1]] * 3, 2), Traces([[1]] * 3, 3)), DataError, "vocabulary"),
        ((Traces([[1], [1]], 2, users=[1, 2]), Traces([[1], [1]], 2, users=[1, 3])), DataError, "row 1"),
        ((Traces([[1]] * 3, 2), Channel([[1.0]])), DataError, "not on Channel"),
        ((Traces([[1]], 2), Traces([[1]], 2), "guess"), OptionError, "guess"),
        ((Traces([[-1]], 2), Traces([[1]], 2), "plug-in"), DataError, "nothing to measure"),
    ],
)
def test_bad_input_is_refused(arguments, error, complaint):
    with pytest.raises(error, match=complaint):
        information(*arguments)


def test_bad_distributions_are_refused():
    with pytest.raises(DataError, match="add up to 1"):
        exact_information([[0.5, 0.2]])
    with pytest.raises(DataError, match="2 numbers"):
        exact_information(Channel([[1.0], [1.0]]), [0.5])
    with pytest.raises(OptionError, match="Channel"):
        exact_information(JOINT, [1.0])
