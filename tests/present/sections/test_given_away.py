"""What gives people away, by how rare an item is: levels are codes, and those that were saved in words are read."""

import pytest

from reidrisk import measure
from reidrisk.attacks import Hamming
from reidrisk.measure.attribution import Attribution
from reidrisk.present.sections.audit.given_away import _name
from reidrisk.present.terms import Terms
from reidrisk.records import Traces

SHOP = Terms(person="customer", item="purchase", thing="product")


@pytest.fixture(scope="module")
def found():
    table = Traces([[0, 1], [1, 1], [2, 0]], n_tokens=3)
    return measure.attribution(Hamming(), table, table, min_group=1)


@pytest.mark.parametrize(
    ("level", "said"),
    [
        ("below-0.001", "products held by fewer than 1 in 1,000 customers"),
        ("0.001-to-0.01", "products held by 1 in 1,000 to 1 in 100 customers"),
        ("0.01-to-0.1", "products held by 1 in 100 to 1 in 10 customers"),
        ("from-0.1", "products held by more than 1 in 10 customers"),
        ("1 in 100 to 10", "products held by 1 in 100 to 1 in 10 customers"),  # as it was saved
        ("above 1 in 10", "products held by more than 1 in 10 customers"),
        ("other", "other"),
    ],
)
def test_levels_of_rarity_in_words(found, level, said):
    saved = {**found.to_dict(), "by": "rarity"}
    saved["parts"] = [{**saved["parts"][0], "name": level}]
    again = Attribution.from_dict(saved)
    assert _name(again.parts[0], again, SHOP) == said
