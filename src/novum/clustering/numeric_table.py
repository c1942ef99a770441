"""The entrance of learners by means and medians: numeric columns only, with advice for others."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from novum.core.errors import InputError
from novum.core.tables import Sample, Schema, check_features, check_sample, frame_of, is_frame
from novum.distances import complete_sparse, refuse_overflow, refuse_underflow
from novum.numerics import Positions, as_argument


def numeric_table(
    model: Any, X: Any, sample_weight: Any, schema: Schema | None, accept_sparse: bool = False
) -> Sample:
    """The checked sample of a table of numbers, in which cells may be missing."""
    _refuse_levels(model, X)
    sample = check_sample(
        model,
        X,
        None,
        sample_weight,
        target="none",
        schema=schema,
        allow_missing=True,
        accept_sparse=accept_sparse,
    )
    if sample.is_sparse:
        sample = replace(sample, numeric=complete_sparse(sample.numeric))
    cells = sample.numeric.data if sample.is_sparse else as_argument(sample.numeric)
    refuse_overflow(cells)
    refuse_underflow(cells)
    refuse_empty_rows(sample)
    return sample


def numeric_features(model: Any, X: Any, accept_sparse: bool = False) -> Any:
    """Rows to predict, read by the schema of the fitted model."""
    sample = check_features(model, X, allow_missing=True, accept_sparse=accept_sparse)
    if sample.is_sparse:
        refuse_overflow(sample.numeric.data)
        return complete_sparse(sample.numeric)
    refuse_overflow(sample.numeric)
    if np.isnan(np.sum(sample.numeric)):
        refuse_empty_rows(sample)
    return as_argument(sample.numeric)


def counted(sample_weight: Any) -> Positions | None:
    """The rows of positive weight, which alone take part in a fit; None where all do.

    Examples
    --------
    >>> counted([1.0, 0.0, 2.0]), counted([1.0, 2.0])
    (array([0, 2]), None)
    """
    if sample_weight is None:
        return None
    weights = np.asarray(sample_weight, np.float64)
    return None if weights.all() else np.flatnonzero(weights)


def refuse_empty_rows(sample: Sample) -> None:
    """Says which row has no known cell."""
    if sample.schema.n_columns == 0 or sample.is_sparse:
        return
    unknown = np.isnan(np.asarray(sample.numeric)).all(axis=1) & (sample.codes < 0).all(axis=1)
    if unknown.any():
        row = int(np.argmax(unknown))
        raise InputError(
            f"Row {row} has no cell that is known, {int(unknown.sum())} such in all, so it is in "
            "no group. Leave such rows out."
        )


def _refuse_levels(model: Any, X: Any) -> None:
    if not is_frame(X):
        return
    for name, kind in frame_of(X).schema.items():
        if isinstance(kind, (nw.String, nw.Categorical, nw.Enum)):
            raise InputError(
                f"{type(model).__name__} has centers of numbers, but column {name!r} holds "
                "categories. Use KMedoids for columns of different kinds, or leave the column out."
            )
