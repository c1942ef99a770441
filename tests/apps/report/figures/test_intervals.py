"""Intervals: names, words, the chosen model in its own color, missing limits."""

from __future__ import annotations

from novum.apps.job.record import Estimate
from novum.apps.report.figures.intervals import MOST_TERMS, standings_figure, terms_figure
from tests.apps.report.figures.drawn import alt, strokes, words
from tests.apps.report.sample_parts import MODELS, standings


def test_standings_are_named_and_said() -> None:
    figure = standings_figure(standings(), "accuracy", greater=True)
    assert {title for _, title, _ in MODELS} <= set(words(figure))
    assert "Random forest 0.861 [0.844, 0.878]" in alt(figure)
    assert "accuracy (greater is better)" in words(figure)
    assert strokes(figure, "series-1") > 0


def test_model_without_a_score_is_not_drawn_and_limits_may_be_missing() -> None:
    first, second, *_ = standings()
    none = type(first)(**{**first.__dict__, "score": Estimate(None, None, None), "title": "gone"})
    half = type(first)(**{**second.__dict__, "score": Estimate(0.5, None, None), "title": "half"})
    shown = words(standings_figure([none, half], "log_loss", greater=False))
    assert "gone" not in shown
    assert {"half", "log loss (smaller is better)"} <= set(shown)


def test_largest_terms_are_drawn_under_safe_names() -> None:
    terms = [(f"$x_{k}$ <b>", Estimate(1.0 / (k + 1), None, None)) for k in range(40)]
    shown = words(terms_figure(terms, key="k", title="T", caption="C"))
    assert sum(text.startswith("$x_") for text in shown) == MOST_TERMS
    assert "$x_0$ <b>" in shown
