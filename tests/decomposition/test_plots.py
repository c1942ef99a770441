"""Pictures by their structure: bars, points, arrows, labels; on the Agg backend."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest

from novum.core.errors import InputError
from novum.decomposition.pca import PCA
from novum.decomposition.plots import plot_biplot, plot_projection, plot_scree
from novum.decomposition.probabilistic_pca import ProbabilisticPCA
from tests.decomposition.component_tables import low_rank_table

matplotlib = pytest.importorskip("matplotlib")


@pytest.fixture(autouse=True)
def agg() -> Iterator[None]:
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    yield
    plt.close("all")


X = low_rank_table(30, 4, 2)


def points_of(ax: Any) -> int:
    from matplotlib.collections import PathCollection

    return sum(len(c.get_offsets()) for c in ax.collections if isinstance(c, PathCollection))


@pytest.mark.parametrize("model", [PCA(), ProbabilisticPCA(3)], ids=repr)
def test_scree_has_a_bar_for_each_component(model: Any) -> None:
    ax = plot_scree(model.fit(X))
    heights = [bar.get_height() for bar in ax.patches]
    np.testing.assert_allclose(heights, model.explained_variance_ratio_)
    np.testing.assert_allclose(ax.lines[0].get_ydata(), np.cumsum(model.explained_variance_ratio_))
    assert ax.get_xlabel() == "component"
    assert not plot_scree(model, cumulative=False).lines


def test_scree_of_many_components_has_few_ticks() -> None:
    ax = plot_scree(PCA().fit(low_rank_table(80, 60, 2)))
    assert len(ax.get_xticks()) <= 20


def test_projection_has_a_point_for_each_row_and_a_color_for_each_class() -> None:
    model = PCA(3).fit(X)
    ax = plot_projection(model, X)
    np.testing.assert_allclose(ax.collections[0].get_offsets(), model.transform(X)[:, :2])
    assert ax.get_xlabel().startswith("component 1 (")
    y = np.array(["a", "b", "c"] * 10)
    ax = plot_projection(model, X, y, components=(2, 0))
    assert len(ax.collections) == 3
    assert points_of(ax) == 30
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["a", "b", "c"]
    assert ax.get_ylabel().startswith("component 1 (")


def test_numbers_get_a_color_scale() -> None:
    ax = plot_projection(PCA(2).fit(X), X, np.arange(30.0))
    assert points_of(ax) == 30
    assert len(ax.figure.axes) == 2


def test_biplot_has_an_arrow_and_a_name_for_each_column() -> None:
    from matplotlib.quiver import Quiver

    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    model = PCA(2).fit(frame)
    ax = plot_biplot(model, frame)
    arrows = [c for c in ax.collections if isinstance(c, Quiver)]
    assert len(arrows) == 1
    tips = np.column_stack([arrows[0].U, arrows[0].V])
    loadings = model.components_.T * np.sqrt(model.explained_variance_)
    names = [text.get_text() for text in ax.texts]
    assert sorted(names) == ["a", "b", "c", "d"]
    order = ["abcd".index(name) for name in names]
    ratio = tips / loadings[order]
    np.testing.assert_allclose(ratio, ratio[0, 0])
    assert len(plot_biplot(model, frame, max_columns=2).texts) == 2


def test_pictures_are_drawn_where_asked() -> None:
    import matplotlib.pyplot as plt

    ax = plt.figure().add_subplot()
    model = PCA(2).fit(X)
    assert plot_scree(model, ax=ax) is ax
    assert plot_biplot(model, X, ax=ax) is ax


def test_odd_requests_are_refused() -> None:
    model = PCA(2).fit(X)
    with pytest.raises(InputError, match=r"two of the model's 2 components.*\(0, 2\)"):
        plot_projection(model, X, components=(0, 2))
    with pytest.raises(InputError, match="y has shape"):
        plot_projection(model, X, [1, 2])


def test_without_matplotlib_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match="Pictures need matplotlib"):
        plot_scree(PCA().fit(X))
