"""Pictures of projections: scree, biplot, projected rows. Each returns the axes it drew on.

Matplotlib is imported when a picture is drawn (the extra `plot`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from novum.core.errors import InputError
from novum.display import Axis, Bars, Chart, Line, new_axes
from novum.numerics import Array, Floats

# Classes beyond this are told apart by no palette.
_MOST_CLASSES = 20


def plot_scree(model: Any, *, cumulative: bool = True, ax: Any = None) -> Any:
    """Share of the variance that each component explains, and the running total.

    Parameters
    ----------
    model : fitted PCA or ProbabilisticPCA
    cumulative : bool
        Whether to draw the running total too.
    ax : matplotlib axes, optional

    Returns
    -------
    ax : matplotlib axes

    Examples
    --------
    >>> from novum.decomposition.pca import PCA
    >>> ax = plot_scree(PCA().fit([[0, 0], [2, 1], [4, 3]]))
    >>> len(ax.patches)
    2
    """
    check_is_fitted(model)
    shares = np.asarray(model.explained_variance_ratio_)
    place = np.arange(1, len(shares) + 1)
    marks: list[Any] = [Bars.upright(place, shares, 0.8, label="each component")]
    if cumulative:
        marks.append(Line(place, np.cumsum(shares), "up to it", 1, dots=True))
    ticks = [(float(k), str(k)) for k in place[:: -(-len(place) // 20)]]
    y = Axis("share of the variance", (0.0, 1.05))
    return Chart(Axis("component", ticks=ticks, grid=False), y, marks).plot(ax)


def plot_projection(
    model: Any,
    X: Any,
    y: ArrayLike | None = None,
    *,
    components: tuple[int, int] = (0, 1),
    ax: Any = None,
) -> Any:
    """Rows at their coordinates along two components, colored by class or number.

    Parameters
    ----------
    model : fitted projection with `transform`
    X : rows
    y : array-like of shape (n_rows,), optional
        Labels get a color each and a legend; numbers with more than 20 values a color scale.
    components : pair of int
    ax : matplotlib axes, optional

    Returns
    -------
    ax : matplotlib axes

    Examples
    --------
    >>> from novum.decomposition.pca import PCA
    >>> X = [[0, 0], [2, 1], [4, 3]]
    >>> ax = plot_projection(PCA().fit(X), X, ["a", "b", "a"])
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['a', 'b']
    """
    Z = _coordinates(model, X, components)
    ax = new_axes() if ax is None else ax
    if y is None:
        ax.scatter(Z[:, 0], Z[:, 1], s=12)
    else:
        _colored(ax, Z, np.asarray(y))
    _label(ax, model, components)
    return ax


def plot_biplot(
    model: Any,
    X: Any,
    y: ArrayLike | None = None,
    *,
    components: tuple[int, int] = (0, 1),
    max_columns: int = 20,
    ax: Any = None,
) -> Any:
    """Rows along two components, with an arrow for every column.

    The arrow of a column has the column's loadings on both components, times the deviations along
    them, so that its length shows how much of the column's variance the picture holds. All arrows
    are scaled alike to fit among the rows.

    Parameters
    ----------
    model : fitted PCA or ProbabilisticPCA
    X, y, components, ax
        As for `plot_projection`.
    max_columns : int
        Arrows drawn, the longest first.

    Returns
    -------
    ax : matplotlib axes

    Examples
    --------
    >>> from novum.decomposition.pca import PCA
    >>> X = [[0, 0], [2, 1], [4, 3]]
    >>> [text.get_text() for text in plot_biplot(PCA().fit(X), X).texts]
    ['x0', 'x1']
    """
    ax = plot_projection(model, X, y, components=components, ax=ax)
    deviations = np.sqrt(model.explained_variance_[list(components)])
    arrows = model.components_[list(components)].T * deviations
    lengths = np.linalg.norm(arrows, axis=1)
    Z = _coordinates(model, X, components)
    longest = float(lengths.max(initial=0.0))
    scale = 0.8 * float(np.abs(Z).max(initial=0.0)) / longest if longest > 0 else 1.0
    shown = np.argsort(-lengths, kind="stable")[:max_columns]
    tips = scale * arrows[shown]
    origin = np.zeros(len(tips))
    units = {"angles": "xy", "scale_units": "xy", "scale": 1.0, "width": 0.004}
    ax.quiver(origin, origin, tips[:, 0], tips[:, 1], color="tab:red", **units)
    for j, tip in zip(shown, tips, strict=True):
        ax.text(*(1.06 * tip), model.schema_.names[j], color="tab:red", ha="center", va="center")
    ax.axhline(0, color="0.8", lw=0.8, zorder=0)
    ax.axvline(0, color="0.8", lw=0.8, zorder=0)
    return ax


# --- Parts ----------------------------------------------------------------------------------------


def _coordinates(model: Any, X: Any, components: tuple[int, int]) -> Floats:
    check_is_fitted(model)
    Z = np.asarray(model.transform(X), float)
    if len(components) != 2 or not all(0 <= c < Z.shape[1] for c in components):
        raise InputError(
            f"A picture shows two of the model's {Z.shape[1]} components, counted from 0; got "
            f"components={components!r}."
        )
    return Z[:, list(components)]


def _colored(ax: Any, Z: Floats, y: Array) -> None:
    if y.shape != (len(Z),):
        raise InputError(
            f"y has shape {y.shape}, but there are {len(Z)} rows. Pass one label for each row."
        )
    labels = np.unique(y)
    if len(labels) > _MOST_CLASSES and y.dtype.kind in "iuf":
        points = ax.scatter(Z[:, 0], Z[:, 1], c=y, s=12)
        ax.figure.colorbar(points, ax=ax)
        return
    for label in labels:
        chosen = y == label
        ax.scatter(Z[chosen, 0], Z[chosen, 1], s=12, label=str(label))
    ax.legend(frameon=False)


def _label(ax: Any, model: Any, components: tuple[int, int]) -> None:
    shares = getattr(model, "explained_variance_ratio_", None)
    for setter, c in zip((ax.set_xlabel, ax.set_ylabel), components, strict=True):
        share = "" if shares is None or c >= len(shares) else f" ({100 * shares[c]:.1f} %)"
        setter(f"component {c + 1}{share}")
