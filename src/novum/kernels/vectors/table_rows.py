"""Rows of a table for kernels that know kinds of columns.

A table is a frame, an array or list of rows, one column of labels, or the checked `Sample` that a
learner has made of it. New rows are read by the schema of the training, so that a level has the
same code on both sides. A level that was not met in training is unlike every other; a warning says
how many cells there are. Missing cells are refused.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from novum.core.errors import SchemaError
from novum.core.learners import Learner, parameter
from novum.core.tables import Sample, Schema, check_sample, warn_unseen


class _TableReader(Learner):
    """What `core.tables` wants to know of a learner; subclasses lend it a kernel's name."""

    categorical_features: Any = parameter(default="auto")


def read_rows(X: Any, kernel: str, schema: Schema | None = None) -> Sample:
    """The table as a checked sample, by the schema of the training where there is one.

    Examples
    --------
    >>> read_rows([[1.5, "a"], [2.5, "b"]], "Delta").schema.names
    ('x0', 'x1')
    >>> read_rows(["a", "b", "a"], "Delta").codes.ravel()
    array([0, 1, 0], dtype=int32)
    """
    if not isinstance(X, Sample):
        reader = type(kernel, (_TableReader,), {})()
        sample = check_sample(reader, _as_table(X), target="none", schema=schema)
    elif schema is None or X.schema == schema:
        sample = X
    else:
        sample = _recoded(X, kernel, schema)
    if schema is not None:
        warn_unseen(sample, "they are unlike every level", stacklevel=3)
    return sample


def _as_table(X: Any) -> Any:
    """A list or array of labels as a table of one column."""
    if isinstance(X, np.ndarray) and X.ndim == 1:
        return X[:, np.newaxis]
    flat = isinstance(X, (list, tuple)) and not any(isinstance(x, (list, tuple)) for x in X)
    if flat and all(np.ndim(x) == 0 for x in X):
        return [[x] for x in X]
    return X


def _recoded(sample: Sample, kernel: str, schema: Schema) -> Sample:
    """A sample that was read by another schema; columns must agree, levels need not."""
    pairs = list(zip(sample.schema.columns, schema.columns, strict=False))
    fits = sample.schema.n_columns == schema.n_columns
    if not fits or any(mine.kind is not theirs.kind for mine, theirs in pairs):
        raise SchemaError(
            f"{kernel} cannot compare these tables: one has the columns "
            f"{', '.join(sample.schema.names[:10])}, the other {', '.join(schema.names[:10])}, or "
            "their kinds differ. Pass the same columns on both sides."
        )
    return replace(sample, schema=schema, codes=sample.schema.recode(sample.codes, schema))
