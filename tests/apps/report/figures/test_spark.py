"""Small histograms: heights in proportion, few bars, words escaped."""

from __future__ import annotations

import re

from novum.apps.report.figures.spark import share_bar, spark_bars


def test_heights_are_in_proportion() -> None:
    markup = spark_bars([1, 2, 4, 0], "w")
    assert markup is not None
    tops = [float(v) for v in re.findall(r"V([\d.]+)H", markup)]
    assert [24 - top for top in tops] == [6.0, 12.0, 24.0]


def test_many_bars_are_added_up() -> None:
    markup = spark_bars([1] * 1000, "w")
    assert markup is not None
    assert markup.count("M") <= 32


def test_nothing_is_drawn_of_nothing() -> None:
    assert spark_bars([], "w") is None
    assert spark_bars([0, 0], "w") is None
    assert spark_bars([float("nan")], "w") is None


def test_words_are_escaped_and_shares_kept_in_the_frame() -> None:
    assert 'aria-label="&#34;&gt;"' in str(spark_bars([1], '">'))
    assert 'rect width="32"' in share_bar(0.5, "w")
    assert 'rect width="64"' in share_bar(7.0, "w")
    assert 'rect width="0"' in share_bar(-1.0, "w")
