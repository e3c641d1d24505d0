"""What is said about bits."""

import numpy as np

from reidrisk.base.notes import Note
from reidrisk.measure import Bits, Independence, Information, exact_information
from reidrisk.present import words


def test_information_in_one_sentence():
    assert exact_information(np.eye(2) / 2).reading == (
        "A record holds 1.00 bits; whoever has the other record of the same person knows 1.00 bits of them beforehand "
        "(exact)."
    )
    bits = Bits(6.5, 6.4, 6.6), Bits(5.4, 5.3, 5.5), Bits(1.1, 1.0, 1.2)
    found = Information(*bits, n_epochs=8, method="sequence")
    assert "6.50 bits (6.40 to 6.60) per period" in found.reading
    assert "(an estimate, no bound)" in found.reading
    gap = Independence(found, found, Bits(0.1, 0.0, 0.2))
    assert gap.reading.endswith("tell together is 0.10 bits (0.00 to 0.20) more.")


def test_an_estimate_is_said_to_be_no_bound():
    said = words.sentence(Note("difference-of-cross-entropies", users=1_000))
    assert "no bound in either direction" in said
