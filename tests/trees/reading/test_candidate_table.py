"""Tables of candidates: exact text, plain records, inert HTML."""

from __future__ import annotations

import numpy as np

from novum.core.tables import Column, Kind, Schema
from novum.trees.reading.candidates import candidates
from tests.trees.reading.reading_trees import WEATHER, WEATHER_ROWS

CELLS, PLAY = WEATHER_ROWS[:, :4], WEATHER_ROWS[:, 4]
LABELS = (np.array(["no", "yes"]),)


def test_the_table_of_the_weather() -> None:
    found = candidates(
        CELLS, PLAY, None, WEATHER, criterion="entropy", nominal="multiway", classes=LABELS, limit=3
    )
    assert str(found).splitlines() == [
        "weight 14, impurity 0.9403, 22 splits",
        "   split                                gain    info   ratio  branches",
        "   outlook: overcast | rainy | sunny  0.2467  1.5774  0.1564  "
        "yes 4 | no 2, yes 3 | no 3, yes 2",
        "   humidity <= 82.5                   0.1518  1.0000  0.1518  no 1, yes 6 | no 4, yes 3",
        "   temperature <= 84                  0.1134  0.3712  0.3055  no 4, yes 9 | no 1",
        "  ... 19 more",
    ]


def test_numbers_tell_weights_and_means() -> None:
    found = candidates(
        [[1.0], [2.0]], [10.0, 30.0], None, Schema.of_array(1), criterion="squared_error"
    )
    assert "1 of mean 10 | 1 of mean 30" in str(found)


def test_rows_that_are_alike_have_no_split() -> None:
    found = candidates([[1.0], [1.0]], [0, 1], None, Schema.of_array(1))
    assert len(found) == 0
    assert str(found) == "weight 2, impurity 0.5: no split, all rows are alike"


def test_splits_that_do_not_compete_are_marked_and_untried_sets_counted() -> None:
    ratio = candidates(CELLS, PLAY, None, WEATHER, criterion="gain_ratio", nominal="multiway")
    assert "\n-  humidity" in ratio.text()
    levels = tuple(f"l{i:02}" for i in range(12))
    schema = Schema((Column("c", Kind.NOMINAL, levels),))
    many = candidates(np.arange(12.0)[:, None], np.arange(12) % 3, None, schema)
    assert "2035 pairs of sets of levels were not tried" in str(many)


def test_records_and_html() -> None:
    schema = Schema((Column("<b>"),))
    found = candidates([[1.0], [2.0]], [0, 1], None, schema)
    assert found.records()[0]["words"] == "<b> <= 1.5"
    assert "<b>" not in found._repr_html_()
    assert [split.words for split in found] == [found[0].words]
