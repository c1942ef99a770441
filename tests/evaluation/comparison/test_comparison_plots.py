"""Pictures: what is drawn is what was found."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pytest

from novum.evaluation.comparison.comparison import Comparison, compare_scores

mpl.use("Agg")
RNG = np.random.default_rng(0)


def one() -> Comparison:
    return compare_scores({name: RNG.normal(0.8, 0.05, 10) for name in ("a$", "b", "c")}, 1 / 4)


def several(n: int = 3) -> Comparison:
    scores = {f"set {i}": {name: RNG.normal(0.8, 0.05, 5) for name in ("a", "b")} for i in range(n)}
    return compare_scores(scores, 1 / 4)


@pytest.fixture(autouse=True)
def _close_figures() -> object:
    import matplotlib.pyplot as plt

    yield
    plt.close("all")


def test_differences_with_their_intervals() -> None:
    found = one()
    ax = found.plot()
    lines = [line.get_xdata() for line in ax.lines if len(line.get_xdata()) == 2]
    for pair in found.pairs:
        assert any(np.allclose(line, tuple(pair.difference)) for line in lines)
    assert [text.get_text() for text in ax.get_yticklabels()][1] == r"a\$ - c"
    assert ax.get_xlabel() == "difference of score"
    ax.figure.canvas.draw()


def test_ranks_by_default_for_several() -> None:
    texts = [text.get_text() for text in several().plot().texts]
    assert any(text.startswith("CD = ") for text in texts)


@pytest.mark.parametrize("make", [one, several])
def test_scores(make: object) -> None:
    found = make()  # type: ignore[operator]
    ax = found.plot("scores")
    assert len(ax.get_xticklabels()) == len(found.models)
    ax.figure.canvas.draw()


def test_an_endless_interval_is_drawn_across() -> None:
    ax = several(3).plot("differences")
    assert any(line.get_linestyle() == ":" for line in ax.lines)
    ax.figure.canvas.draw()


def test_given_axes_are_used() -> None:
    import matplotlib.pyplot as plt

    ax = plt.subplots()[1]
    assert one().plot(ax=ax) is ax
    assert several().plot("ranks", ax) is ax


def test_bad_kinds_are_named() -> None:
    with pytest.raises(ValueError, match="this comparison has one"):
        one().plot("ranks")
    with pytest.raises(ValueError, match="'differences', 'ranks' or 'scores', got 'bars'"):
        one().plot("bars")  # type: ignore[arg-type]
