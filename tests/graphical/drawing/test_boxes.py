"""What stands in a box."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from novum.display import text_width
from novum.distributions.joint_table_states import StateAxis
from novum.graphical.drawing.boxes import bar_box, name_box, percentage, shortened
from novum.graphical.models.conditional import Conditional, Tabular


def node(n_states: int = 2, name: str = "node") -> tuple[Conditional, np.ndarray]:
    shares = np.arange(1.0, n_states + 1) / (n_states * (n_states + 1) / 2)
    axis = StateAxis(name, tuple(f"s{i}" for i in range(n_states)))
    return Tabular(axis, (), shares), shares


def test_every_state_has_its_line() -> None:
    item, shares = node(3)
    box = bar_box(item, shares, (), 8)
    assert [line.label for line in box.lines] == ["s0", "s1", "s2"]
    assert [line.percentage for line in box.lines] == ["16.7 %", "33.3 %", "50.0 %"]
    assert (box.rest, box.is_observed) == ("", False)
    assert "s2: 0.5" in box.hover


def test_many_states_show_the_likeliest_in_their_order() -> None:
    item, shares = node(10)
    box = bar_box(item, shares, (), 4)
    assert [line.label for line in box.lines] == ["s7", "s8", "s9"]
    assert box.rest == "7 more: 50.9 %"


def test_an_observed_node_says_which_state() -> None:
    item, _ = node(3)
    box = bar_box(item, np.array([0.0, 1.0, 0.0]), (1,), 8)
    assert box.is_observed
    assert [line.is_observed for line in box.lines] == [False, True, False]
    assert "observed: s1" in box.hover
    assert name_box(item, (1,)).rest == "= s1"


def test_long_names_are_cut_and_kept_for_pointing() -> None:
    item, shares = node(name="n" * 100)
    box = bar_box(item, shares, (), 8)
    assert len(box.name) == 26
    assert "n" * 100 in box.hover
    assert text_width(box.name) <= box.width


def test_control_characters_are_written_as_codes() -> None:
    item, shares = node(name="a\x1b[2J\u202eb")
    assert bar_box(item, shares, (), 8).name == "a\\x1b[2J\\u202eb"


@given(st.floats(0, 1))
def test_percentages_are_right_to_a_digit_and_never_feign_certainty(share: float) -> None:
    text = percentage(share).removesuffix(" %")
    if text[0] in "<>":
        assert (share < 0.0005) if text[0] == "<" else (share >= 0.9995)
    else:
        assert abs(float(text) - 100 * share) <= 0.05 + 1e-9
        assert (text in ("0", "100")) == (share in (0.0, 1.0))


def test_widths_count_wide_signs() -> None:
    assert text_width("漢字") > text_width("ab") > text_width("il")
    assert shortened("abcdef", 4) == "abc…"
