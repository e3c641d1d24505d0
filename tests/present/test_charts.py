"""The charts as data and as pictures, and the axes under them."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

pytest.importorskip("altair")
pytest.importorskip("vl_convert")

import examples
from hypothesis import given
from hypothesis import strategies as st

from reidrisk import present
from reidrisk.base.errors import OptionError
from reidrisk.present.scales import rate_scale, spread


def test_a_chart_is_written_as_png_and_svg(tmp_path: Path) -> None:
    chart = present.chart(examples.CASES["normal"], "growth")
    present.save_chart(chart, tmp_path / "growth.png")
    present.save_chart(chart, tmp_path / "growth.svg")
    assert (tmp_path / "growth.png").read_bytes().startswith(b"\x89PNG")
    picture = (tmp_path / "growth.svg").read_text()
    for words in ("Weighted Hamming", "4.2 in 100", "Blind guessing", "1 in 100,000", "Bound: optimal attacker"):
        assert words in picture
    with pytest.raises(OptionError, match=r"\.png or \.svg"):
        present.save_chart(chart, tmp_path / "growth.pdf")


@pytest.mark.parametrize("case", ["normal", "one epoch, bounds", "no truth"])
def test_charts_are_valid_by_the_schema_of_their_language(case: str) -> None:
    result = examples.CASES[case]
    drawn = [present.chart(result, "growth"), present.chart(result, "perspective", narrow=True)]
    if result.exposure is not None:
        drawn.append(present.chart(result, "exposed"))
    if result.choosiness:
        drawn.append(present.chart(result, "sure"))
    for chart in drawn:
        assert chart.to_dict(validate=True)["width"] == "container"


def test_attacks_differ_in_dash_and_marker_and_not_only_in_colour() -> None:
    from reidrisk.present.drawing import ATTACKS, BOUND, GUESSING

    styles = [*ATTACKS, BOUND, GUESSING]
    for field in ("color", "dash"):
        assert len({getattr(style, field) for style in styles}) == len(styles)
    assert len({style.shape for style in [*ATTACKS, BOUND]}) == len(ATTACKS) + 1


rates = st.lists(st.one_of(st.just(0.0), st.just(1.0), st.floats(1e-8, 1.0)), min_size=1, max_size=12)


@given(rates)
def test_every_rate_has_a_place_on_the_axis_and_places_keep_their_order(values: list[float]) -> None:
    scale = rate_scale(values)
    assert all(0.0 <= scale.position(value, 300.0) <= 300.0 for value in values)
    assert scale.top <= 1.0 + 1e-12
    assert max(values) <= scale.top * (1.0 + 1e-9)
    ordered = [scale.position(value, 300.0) for value in sorted(values)]
    assert ordered == sorted(ordered)
    assert 2 <= len(scale.ticks) <= 12


@given(st.lists(st.floats(0.0, 300.0), min_size=1, max_size=6))
def test_labels_are_moved_apart_and_stay_in_order(wanted: list[float]) -> None:
    placed = spread(wanted, 40.0, 300.0)
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    gaps = [placed[b] - placed[a] for a, b in itertools.pairwise(order)]
    assert all(gap >= 40.0 - 1e-6 for gap in gaps)
    assert all(-1e-6 <= place <= 300.0 + 1e-6 for place in placed)
