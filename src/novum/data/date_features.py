"""Dates as features: of the calendar and of elapsed time.

A date has no one meaning as a feature. What happens again every week or every year is in its place
in the calendar; what grows or wears off is in the time since a fixed moment, here the first date
of training:

    year, month, day, weekday, day_of_year    of a date
    hour, minute                              where cells have a time of the day
    elapsed_days                              days since the first date of training, with fractions

Trees cut such numbers wherever they like. For a model that is linear in them, December and January
lie eleven months apart; `cyclic=True` puts what comes back on a circle instead,

    sin(2 pi p), cos(2 pi p)    with p the share of the year, the week or the day that has passed,

for month, weekday, day of the year and hour. The day of the month, the year and the elapsed time
stay numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Self

import numpy as np
import pyarrow as pa
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from novum.core.errors import InputError, ModelFileError
from novum.core.learners import Certificate, Learner, Verdict, fitted, parameter
from novum.core.runtime import fit_context, fitting
from novum.core.tables import (
    Column,
    Kind,
    Moments,
    Schema,
    arrow_of,
    as_table,
    check_sample,
    checked_rows,
    checked_weight,
    column_names,
    column_places,
    columns_of,
    in_library,
    is_frame,
    is_temporal,
    moments_of,
    n_rows_of,
    nulls_for_nan,
    output_library,
    rows_of,
    with_columns,
)
from novum.numerics import Array, Floats, Integers, Mask

_SECONDS_OF_DAY = 86_400.0
_MICROSECONDS = 1e6


class DateFeatures(TransformerMixin, Learner):
    """Date columns become features of the calendar and of elapsed time; others pass unchanged.

    Parameters
    ----------
    columns : "auto" or list of names or positions
        Columns of dates. "auto" takes those whose type says so (dates, moments, times of the day);
        text such as `2024-01-31`, `31.1.2024 18:30` or `18:30` must be named.
    cyclic : bool
        Whether month, weekday, day of the year and hour become sines and cosines.
    day_first : "auto", bool or list of names
        Whether text such as `03/04/2024` begins with the day, for all columns or those listed.
        "auto" finds it from the cells of training, and takes the month where they do not say.
    leave_out : list of names or positions
        Columns that are not passed on, such as free text before a learner that has no use for it.

    Attributes
    ----------
    date_columns_ : int array
        Positions of the columns of dates.
    day_first_ : bool array
        For each of them, whether text begins with the day.
    first_ : array
        For each of them, days from 1970-01-01 to the first date of training; NaN without one.
    left_out_ : int array
        Positions of the columns that are not passed on.
    features_ : tuple of str
        Names of the features that were made.
    schema_, certificate_

    Notes
    -----
    `O(n)`. A missing date gives missing features. Features that are constant in training are left
    out. Times with a zone are read as the clock there showed them; elapsed time is measured in UTC.
    The features stand behind the other columns, which keep their order.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = pa.table({"sold": ["2024-01-31", "2024-03-01", None], "price": [1.0, 2.0, 3.0]})
    >>> model = DateFeatures(["sold"]).fit(table)
    >>> model.get_feature_names_out()[1:4].tolist()
    ['sold_month', 'sold_day', 'sold_weekday']
    >>> model.transform(table).column("sold_elapsed_days").to_pylist()
    [0.0, 30.0, None]
    """

    invariances: ClassVar[Any] = ("row_order", "duplication")

    columns: Any = parameter({"auto"}, "array-like", default="auto", kw_only=False)
    cyclic: bool = parameter(default=False)
    day_first: Any = parameter({"auto"}, bool, "array-like", default="auto")
    leave_out: Any = parameter("array-like", default=())

    date_columns_: Integers = fitted()
    left_out_: Integers = fitted()
    day_first_: Mask = fitted()
    first_: Floats = fitted()
    features_: tuple[str, ...] = fitted()
    schema_: Schema = fitted()
    certificate_: Certificate = fitted()

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Finds the columns of dates, the first date of each, and the features that vary.

        Parameters
        ----------
        X : array or data frame of shape (n, d)
        y : ignored
        sample_weight : array (n,), optional
            Rows of weight zero are absent; otherwise weights change nothing.
        """
        del y
        with fitting(self):
            X = as_table(checked_rows(self, X, reset=True), dense_for=type(self).__name__)
            weight = checked_weight(sample_weight, n_rows_of(X))
            if weight is not None and not weight.all():
                X = rows_of(X, np.flatnonzero(weight))
            names = column_names(X)
            gone = sorted(set(column_places(self.leave_out, names, "leave_out")))
            places = [place for place in self._places(X, names) if place not in gone]
            moments = [self._moments(X, place, names[place]) for place in places]
            first = [_first_day(one) for one in moments]
            made: dict[str, Floats] = {}
            for place, one, day in zip(places, moments, first, strict=True):
                made |= self._features(names[place], one, day)
            varying = tuple(name for name, values in made.items() if _varies(values))
            _refuse_taken(varying, [name for i, name in enumerate(names) if i not in places])
            self.schema_ = schema_beside(X, [*places, *gone])
            self.left_out_ = np.array(gone, np.int64)
            self.date_columns_ = np.array(places, np.int64)
            self.day_first_ = np.array([one.day_first for one in moments], bool)
            self.first_ = np.array(first, np.float64)
            self.features_ = varying
            self.certificate_ = Certificate(
                objective="features of dates",
                verdict=Verdict.PROVED,
                value=float(len(varying)),
                details={"columns": len(places), "constant": len(made) - len(varying)},
            )
        return self

    def transform(self, X: Any) -> Any:
        """The other columns, and the features of dates behind them.

        Arrays give arrays and frames frames of the same library, unless `set_output` says
        otherwise.
        """
        check_is_fitted(self)
        X = as_table(checked_rows(self, X, reset=False), dense_for=type(self).__name__)
        if not self.date_columns_.size and not self.left_out_.size:
            return in_library(X, output_library(self))
        names = self.schema_.names
        made: dict[str, Floats] = {}
        for j, place in enumerate(self.date_columns_.tolist()):
            array = arrow_of(X, place)
            moments = moments_of(array, names[place], bool(self.day_first_[j]))
            made |= self._features(names[place], moments, float(self.first_[j]))
        absent = np.full(n_rows_of(X), np.nan)
        numbers = [made.get(name, absent) for name in self.features_]
        others = self._others()
        table = np.column_stack(numbers) if numbers else np.empty((n_rows_of(X), 0))
        if is_frame(X):
            # Behind all columns first: a frame without any would have lost its rows.
            made_at = len(names) + np.arange(len(numbers))
            out = columns_of(with_columns(X, self.features_, table), np.append(others, made_at))
        else:
            out = columns_of(X, others)
            is_number = out.dtype.kind in "biuf" or not others.size
            out = with_columns(
                out.astype(np.float64 if is_number else object), self.features_, table
            )
        gone = np.flatnonzero(np.isnan(table).any(axis=0)).tolist()
        out = nulls_for_nan(out, [self.features_[i] for i in gone])
        return in_library(out, output_library(self))

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Names of the columns after `transform`: those of the table, then the features'."""
        check_is_fitted(self)
        names = self.schema_.names if input_features is None else tuple(input_features)
        if len(names) != self.schema_.n_columns:
            raise InputError(
                f"input_features should have length {self.schema_.n_columns}, got {len(names)}."
            )
        own = getattr(self, "feature_names_in_", None)
        if input_features is not None and own is not None and list(names) != own.tolist():
            raise InputError("input_features is not equal to feature_names_in_.")
        return np.array([*(str(names[i]) for i in self._others()), *self.features_], object)

    # Steps

    def _others(self) -> Integers:
        """Positions of the columns that pass."""
        used = np.concatenate([self.date_columns_, self.left_out_])
        return np.setdiff1d(np.arange(self.schema_.n_columns), used)

    def _places(self, X: Any, names: tuple[str, ...]) -> list[int]:
        if isinstance(self.columns, str):
            return [place for place in range(len(names)) if _is_date(X, place)]
        return sorted(set(column_places(self.columns, names)))

    def _moments(self, X: Any, place: int, name: str) -> Moments:
        wanted: bool | None = None
        if isinstance(self.day_first, bool):
            wanted = self.day_first
        elif not isinstance(self.day_first, str):
            wanted = name in self.day_first
        return moments_of(arrow_of(X, place), name, wanted)

    def _features(self, name: str, moments: Moments, first_day: float) -> dict[str, Floats]:
        """All features of a column that its cells can have, NaN where the date is missing."""
        wall, known = moments.wall, ~np.isnat(moments.wall)
        days = wall.astype("M8[D]")
        months, years = wall.astype("M8[M]"), wall.astype("M8[Y]")
        seconds = (wall - days).astype("m8[us]").astype(np.float64) / _MICROSECONDS
        made: dict[str, Array] = {}
        if moments.has_date:
            since_epoch = days.astype(np.int64)
            made = {
                "year": years.astype(np.int64) + 1970,
                "month": months.astype(np.int64) % 12 + 1,
                "day": (days - months.astype("M8[D]")).astype(np.int64) + 1,
                # 1970-01-01 was a Thursday; Monday is 0.
                "weekday": (since_epoch + 3) % 7,
                "day_of_year": (days - years.astype("M8[D]")).astype(np.int64) + 1,
            }
        # Without a time of the day these are zero in every row, and left out.
        made |= {"hour": seconds // 3600, "minute": seconds // 60 % 60}
        if self.cyclic:
            made = _on_circles(made, seconds)
        if moments.has_date:
            made["elapsed_days"] = _days(moments.utc) - first_day
        return {
            f"{name}_{feature}": np.where(known, values, np.nan).astype(np.float64)
            for feature, values in made.items()
        }

    def _check_state(self) -> None:
        n_dates = self.date_columns_.size
        places = (self.date_columns_, self.left_out_)
        fits = (
            all(part.ndim == 1 for part in places)
            and all(((p >= 0) & (p < self.schema_.n_columns)).all() for p in places)
            and self.day_first_.shape == self.first_.shape == (n_dates,)
        )
        if not fits:
            raise ModelFileError("The parts of these features of dates do not fit its columns.")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.transformer_tags.preserves_dtype = ["float64"]
        return tags


def schema_beside(X: Any, places: Iterable[int]) -> Schema:
    """The schema of a table whose columns at some places are no numbers or levels.

    Those stand in it as nominal columns without levels: whoever reads a file by the schema reads
    them as text.
    """
    names, apart = column_names(X), set(places)
    others = [i for i in range(len(names)) if i not in apart]
    columns = [Column(name, Kind.NOMINAL) for name in names]
    named = is_frame(X)
    if others:
        part = columns_of(X, np.array(others))
        read = check_sample(TypeReader(), part, target="none", allow_missing=True).schema
        for place, column in zip(others, read.columns, strict=True):
            columns[place] = Column(names[place], column.kind, column.levels)
        named = read.named
    return Schema(tuple(columns), named)


class TypeReader(Learner):
    """Reads columns by their types, and keeps nothing."""

    categorical_features: Any = parameter(str, default="auto")


# --- Features -------------------------------------------------------------------------------------


def _on_circles(made: Mapping[str, Array], seconds: Floats) -> dict[str, Array]:
    """Sines and cosines of what comes back; the hour takes the minute along."""
    shares = {
        "month": lambda: (made["month"] - 1) / 12,
        "weekday": lambda: made["weekday"] / 7,
        "day_of_year": lambda: (made["day_of_year"] - 1) / 365.25,
        "hour": lambda: seconds / _SECONDS_OF_DAY,
    }
    columns: dict[str, Array] = {}
    for name, values in made.items():
        if name in shares:
            angle = 2 * np.pi * np.asarray(shares[name](), np.float64)
            columns |= {f"{name}_sin": np.sin(angle), f"{name}_cos": np.cos(angle)}
        elif name != "minute":
            columns[name] = values
    return columns


def _days(moments: Array) -> Floats:
    """Days since 1970-01-01, NaN where missing."""
    days = moments.astype("M8[us]").astype(np.int64) / (_MICROSECONDS * _SECONDS_OF_DAY)
    return np.where(np.isnat(moments), np.nan, days)


def _first_day(moments: Moments) -> float:
    days = _days(moments.utc)
    return float(np.nanmin(days)) if (~np.isnan(days)).any() else float("nan")


def _varies(values: Floats) -> bool:
    known = values[~np.isnan(values)]
    return bool(known.size and known.min() < known.max())


def _is_date(X: Any, place: int) -> bool:
    if not is_frame(X) and X.dtype.kind not in "OM":
        return False
    try:
        kind = arrow_of(X, place).type
    except InputError:
        # Cells of several types; whoever reads the column says so.
        return False
    return is_temporal(kind.value_type if pa.types.is_dictionary(kind) else kind)


def _refuse_taken(made: Iterable[str], names: Iterable[str]) -> None:
    taken = set(made) & set(names)
    if taken:
        raise InputError(
            f"The table has a column {min(taken)!r} already, which a feature of a date would be "
            "called. Rename it."
        )
