"""Targets with an order: which class is below which.

The order comes from, first found first taken: the parameter `classes`; an ordered categorical or
Enum, by its declared order; the size of numbers, false before true. Text has no order that means
anything: it is taken by the alphabet, and a warning says so. A class without rows has no threshold
of its own: it is left out, and a warning says so.
"""

from __future__ import annotations

import warnings
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from novum.core.columns import arrow_column, frame_column, is_ordered, levels_of
from novum.core.errors import InputError
from novum.core.targets import check_classes
from novum.core.text import label_text, listed

Labels = NDArray[Any]
Codes = NDArray[np.int64]


class UnorderedTargetWarning(UserWarning):
    """Classes without a declared order were put into that of the alphabet."""


class AbsentClassWarning(UserWarning):
    """A declared class has no rows, and is not part of the model."""


def declared_order(y: Any) -> tuple[Any, ...] | None:
    """The order that the container of a target declares, if it does.

    Examples
    --------
    >>> import pandas as pd
    >>> declared_order(pd.Series(pd.Categorical(["low"], ["low", "high"], ordered=True)))
    ('low', 'high')
    >>> declared_order(["low", "high"]) is None
    True
    """
    values = y
    if type(y).__name__ == "Categorical" and hasattr(y, "categories"):
        return tuple(y.categories.tolist()) if y.ordered else None
    if nw.dependencies.is_into_series(values):
        values = nw.from_native(values, series_only=True).to_frame()
    elif nw.dependencies.is_into_dataframe(values):
        values = nw.from_native(values, eager_only=True)
    else:
        return None
    if values.shape[1] != 1:
        return None
    column = arrow_column(frame_column(values, 0), "y")
    return tuple(levels_of(column, "y")) if is_ordered(column) else None


def order_of(labels: Labels, given: Any, declared: tuple[Any, ...] | None, learner: str) -> Labels:
    """All classes in their order, for labels that occur.

    Parameters
    ----------
    labels : array
        The distinct labels of the rows, sorted.
    given : array-like or None
        The parameter `classes`.
    declared : tuple or None
        The order of the container.
    """
    if given is not None:
        return _placed(labels, list(given), "classes", learner)
    if declared is not None:
        return _placed(labels, list(declared), "the declared levels", learner)
    if labels.dtype.kind in "OUST":
        taken = " < ".join(label_text(label) for label in labels[:8])
        warnings.warn(
            f"{learner} needs an order of the classes, and y holds text without one; the alphabet "
            f"is taken: {taken}. Pass `classes=` in their order, or y as an ordered categorical.",
            UnorderedTargetWarning,
            stacklevel=5,
        )
    return labels


def _placed(labels: Labels, order: list[Any], source: str, learner: str) -> Labels:
    """The labels in the order of `order`, as an array of their own type."""
    plain = [label.item() if isinstance(label, np.generic) else label for label in order]
    if len(set(plain)) != len(plain):
        raise InputError(
            f"A class stands twice in {source}: {listed(plain)}. List every class once."
        )
    known = labels.tolist()
    unknown = [label for label in known if label not in plain]
    if unknown:
        raise InputError(
            f"y holds the label {label_text(unknown[0])}, which is not among {source}: "
            f"{listed(plain)}. Add it in its place, or select the rows of the classes that are "
            "listed."
        )
    absent = [label for label in plain if label not in known]
    if absent:
        one = len(absent) == 1
        warnings.warn(
            f"{learner}: the {'class' if one else 'classes'} {listed(absent)} of {source} "
            f"{'has no rows, and gets' if one else 'have no rows, and get'} no probability.",
            AbsentClassWarning,
            stacklevel=6,
        )
    places = [known.index(label) for label in plain if label in known]
    return labels[np.array(places, np.intp)]


def ordered_codes(labels: Labels, codes: Codes, order: Labels) -> Codes:
    """Codes into sorted `labels`, translated to places in `order`."""
    position = {label: place for place, label in enumerate(order.tolist())}
    unknown = [label for label in labels.tolist() if label not in position]
    if unknown:
        raise InputError(
            f"y holds the label {label_text(unknown[0])}, which is none of the classes "
            f"{listed(order.tolist())}. Select the rows of these classes, or fit again."
        )
    return np.array([position[label] for label in labels.tolist()], np.int64)[codes]


def checked_codes(y: Any, order: Labels, learner: str) -> Codes:
    """Places of the labels of `y` in a known order."""
    labels, codes = check_classes(y, learner)
    return ordered_codes(labels, codes, order)
