"""Scaling to a range: the smallest value of a column to one end, the largest to the other.

    z_ij = a + (b - a) (x_ij - min_j) / (max_j - min_j)

over the known cells of the column, or of a group of columns that share one range: pixels of an
image keep their relations only if all are scaled by the same two numbers. The ends of columns are
kept as tails (`extremes`), so that chunks unite and rows come off again.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from novum.core.certificate import Certificate, Verdict
from novum.core.errors import InputError
from novum.core.validation import Sample
from novum.data.scaling.column_groups import Groups, group_codes
from novum.data.scaling.extremes import Extremes
from novum.data.scaling.statistics import ScalingStatistics, seen
from novum.data.scaling.transformer import ScalingTransformer

Floats = NDArray[np.float64]


class MinMaxScaler(ScalingTransformer):
    """Numeric columns to a common range; other columns pass through.

    Parameters
    ----------
    feature_range : pair of numbers, default=(0, 1)
    copy : bool, default=True
        Kept for scikit-learn's signature; `X` is never overwritten.
    clip : bool, default=False
        Whether values beyond those of training are cut off at the ends of the range.
    groups : None, "all" or lists of columns, default=None
        Columns that share one smallest and one largest value.
    categorical_features : "auto", "all", None, mask, names or positions, default="auto"
        Columns that are not scaled.

    Attributes
    ----------
    data_min_, data_max_, data_range_ : arrays (number of numeric columns,)
        Of the column or its group; NaN without known cells.
    scale_, min_ : arrays (number of numeric columns,)
        `z = x scale_ + min_`. The scale of a constant column is the width of the range.
    n_samples_seen_ : number
        Weight of the rows.
    statistics_, schema_, certificate_

    Notes
    -----
    `O(n d)`. Missing cells stay missing and take no part. `forget` is exact; after more than the
    64 outermost cells of a column are gone, it may have to say that an end is not known any more.

    Examples
    --------
    >>> MinMaxScaler().fit_transform([[0.0, 10.0], [5.0, 20.0]]).tolist()
    [[0.0, 0.0], [1.0, 1.0]]
    >>> MinMaxScaler(groups="all").fit_transform([[0.0, 10.0], [5.0, 20.0]]).tolist()
    [[0.0, 0.5], [0.25, 1.0]]
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "feature_range": [tuple, list],
        "copy": ["boolean"],
        "clip": ["boolean"],
        "groups": [str, None, "array-like"],
        "categorical_features": [str, None, "array-like"],
    }

    def __init__(
        self,
        feature_range: tuple[float, float] = (0, 1),
        *,
        copy: bool = True,
        clip: bool = False,
        groups: Groups = None,
        categorical_features: Any = "auto",
    ) -> None:
        self.feature_range = feature_range
        self.copy = copy
        self.clip = clip
        self.groups = groups
        self.categorical_features = categorical_features

    @property
    def invariances(self) -> tuple[str, ...]:
        """What a fit does not depend on; columns of a group have a common unit."""
        units = "column_scale" if self.groups is None else "common_scale"
        return ("shift", "row_order", "duplication", units)

    def _columns(self, sample: Sample) -> Extremes:
        return Extremes.of(sample.numeric, sample.weight)

    def _estimate_columns(self, statistics: ScalingStatistics) -> Certificate:
        low, high = self._range()
        codes = group_codes(self.groups, statistics.schema)
        smallest = _over_groups(np.fmin, statistics.columns.smallest, codes)
        largest = _over_groups(np.fmax, statistics.columns.largest, codes)
        with np.errstate(over="ignore"):
            width = largest - smallest
            scale = (high - low) / np.where(width == 0, 1.0, width)
        self._refuse_overflow(width, scale, statistics)
        self.data_min_, self.data_max_, self.data_range_ = smallest, largest, width
        self.scale_ = scale
        self.min_ = low - smallest * self.scale_
        self.n_samples_seen_ = seen(np.array([statistics.weight]))
        return Certificate(
            objective="range of the columns",
            verdict=Verdict.PROVED,
            details={
                "constant_columns": int((width == 0).sum()),
                "unknown_columns": int(np.isnan(width).sum()),
            },
        )

    def _has_scale(self) -> NDArray[np.bool_]:
        return ~np.isnan(self.data_min_)

    def _forward(self, X: Floats) -> Floats:
        low, high = self._range()
        out = X - self.data_min_
        out *= self.scale_
        out += low
        return np.clip(out, low, high, out=out) if self.clip else out

    def _backward(self, X: Floats) -> Floats:
        low, _ = self._range()
        return self.data_min_ + (X - low) / self.scale_

    def _range(self) -> tuple[float, float]:
        try:
            low, high = (float(end) for end in self.feature_range)
        except (TypeError, ValueError):
            raise InputError(
                f"feature_range is a pair of numbers, got {self.feature_range!r}."
            ) from None
        if not (np.isfinite([low, high]).all() and low < high):
            raise InputError(
                "Minimum of desired feature range must be smaller than maximum. Got "
                f"{tuple(self.feature_range)}."
            )
        return low, high

    def _refuse_overflow(self, width: Floats, scale: Floats, statistics: ScalingStatistics) -> None:
        wrong = np.flatnonzero(np.isinf(width) | np.isinf(scale))
        if wrong.size:
            name = statistics.schema.columns[statistics.schema.numeric[wrong[0]]].name
            what, remedy = "range", "Divide"
            if np.isinf(scale[wrong[0]]):
                what, remedy = f"factor for the range of {width[wrong[0]]:.3g}", "Multiply"
            raise InputError(
                f"The {what} of column {name!r} is larger than any number. {remedy} the column by "
                "a power of two first."
            )


def _over_groups(end: Any, values: Floats, groups: NDArray[np.intp]) -> Floats:
    """The smallest or largest of every group at each of its columns; NaN does not count."""
    out = np.full(int(groups.max(initial=-1)) + 1, np.nan)
    end.at(out, groups, values)
    return np.asarray(out[groups])
