"""Text and HTML of tables: aligned, shortened and harmless."""

from __future__ import annotations

import numpy as np

from novum.distributions.joint_table import JointTable


def test_text_is_aligned() -> None:
    table = JointTable([0.125, 0.875], ["weather"], [("sun", "thunderstorm")])
    assert repr(table).splitlines() == [
        "weather       probability",
        "sun                 0.125",
        "thunderstorm        0.875",
    ]


def test_long_tables_say_how_much_is_left_out() -> None:
    table = JointTable(np.full(50, 0.02), ["x"], [range(50)])
    lines = repr(table).splitlines()
    assert len(lines) == 22
    assert lines[-1] == "... 30 more joint states"
    assert "30 more joint states" in table._repr_html_()


def test_html_is_escaped() -> None:
    evil = "<script>alert(1)</script>"
    shown = JointTable([0.5, 0.5], ["<img onerror=x>"], [(evil, '"><svg onload=x>')])._repr_html_()
    assert "<script" not in shown
    assert "<img" not in shown
    assert "<svg" not in shown
    assert "&lt;script&gt;" in shown


def test_terminal_escapes_are_written_out() -> None:
    text = repr(JointTable([1.0], ["x\x1b[2J"], [("a\nb\u202e",)]))
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert len(text.splitlines()) == 2


def test_a_table_of_no_variables_has_one_line() -> None:
    assert repr(JointTable([1.0], ["x"], [(0,)]).marginal()).split() == ["probability", "1"]


def test_undefined_conditionals_say_so() -> None:
    table = JointTable([[0.5, 0.5], [0.0, 0.0]], ["a", "b"], [(0, 1), (0, 1)])
    shown = repr(table.conditional("b", given="a"))
    assert "P(b | a)" in shown
    assert shown.count("undefined") == 2
