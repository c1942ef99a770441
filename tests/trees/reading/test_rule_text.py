"""Rule sets as text and HTML: the exact text of a small set, and hostile names."""

from __future__ import annotations

from novum.core.tables import Column, Kind, Schema
from novum.trees.reading.rules import rules
from tests.trees.reading.reading_trees import among, build, leaf, number_tree, weather_tree

HOSTILE = "<script>alert(1)</script>"


def test_text_of_the_weather() -> None:
    assert str(rules(weather_tree())).splitlines() == [
        "5 rules for 2 of 2 classes",
        "no if",
        "      outlook = sunny and humidity > 77.5   coverage 0.214, confidence 1.000",
        "   or outlook = rainy and windy = True      coverage 0.143, confidence 1.000",
        "yes if",
        "      outlook = overcast                    coverage 0.286, confidence 1.000",
        "   or outlook = rainy and windy = False     coverage 0.214, confidence 1.000",
        "   or outlook = sunny and humidity <= 77.5  coverage 0.143, confidence 1.000",
    ]


def test_text_of_numbers() -> None:
    text = str(rules(number_tree()))
    assert text.startswith("3 rules\n1.5 if\n")
    assert "deviation 0" in text


def test_html_is_a_table_in_which_names_are_only_text() -> None:
    schema = Schema((Column(HOSTILE, Kind.NOMINAL, (HOSTILE, '"><img onerror=x>')),))
    tree = build(schema, [[HOSTILE, "b"]], among(0, [0, 1], leaf(1, 0), leaf(0, 1)))
    page = rules(tree)._repr_html_()
    assert page.count("<tr>") == 3
    assert "<script" not in page
    assert "<img" not in page
    assert "&lt;script&gt;" in page


def test_html_says_what_was_left_out() -> None:
    assert "left out" in rules(weather_tree(), min_coverage=0.2)._repr_html_()
