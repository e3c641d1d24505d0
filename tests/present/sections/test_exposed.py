"""What the exposed have in common, in the words of the reader's data."""

import dataclasses

import pytest
from examples import exposure, published

from reidrisk.measure import Group
from reidrisk.present.sections.audit import exposed
from reidrisk.present.terms import Terms

SHOP = Terms(person="customer", item="purchase", period="week", thing="product")


@pytest.mark.parametrize(
    ("trait", "level", "said"),
    [
        ("items-held", "1", "1 purchase"),
        ("items-held", "4-9", "4 to 9 purchases"),
        ("items-held", "1200-", "1,200 purchases or more"),
        ("visits-seen", "2-3", "2 to 3 visits"),
        ("rarest-holders", "1", "A product that no other of these customers has"),
        ("rarest-holders", "2-9", "Rarest product held by 2 to 9 customers"),
        ("rarest-item", "below-0.001", "Rarest product seen less than once in 1,000 observations"),
        ("rarest-item", "0.001-to-0.01", "Rarest product seen once in 100 to 1,000 observations"),
        ("rarest-item", "from-0.01", "Rarest product seen more than once in 100 observations"),
        ("rarest-item", "above 1 in 100", "Rarest product seen more than once in 100 observations"),  # as it was saved
        ("holds-item", "Harbor / Marina", "With “Harbor / Marina” among their purchases"),
        ("periods-observed", "13-40", "Seen in 13 to 40 of 8 weeks"),
        ("items-held", "other", "All others, by number of purchases"),
        ("rarest token seen in 3 epochs", "old words", "old words".capitalize()),
    ],
)
def test_groups_are_named_in_words_of_the_data(trait, level, said):
    found = dataclasses.replace(exposure(), groups=(Group(trait, level, 100, 0.2, 0.1, 0.3),))
    table = exposed.section(dataclasses.replace(published(), exposure=found), SHOP).parts[0].table
    assert table.rows[0][0] == said
