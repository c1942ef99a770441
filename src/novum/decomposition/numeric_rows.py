"""The entrance of projections: numeric columns only, with advice for all others."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from scipy import sparse

from novum.core.errors import InputError, MissingValuesError
from novum.core.tables import Sample, Schema, check_features, check_sample, frame_of

# Squares of such numbers, and sums of many of them, are doubles.
_LARGEST = 1e140

_ADVICE = (
    "Use novum.decomposition.ProbabilisticPCA(method='auto'), which integrates missing cells out, "
    "or fill them in a step before it."
)


def numeric_sample(
    estimator: Any,
    X: Any,
    sample_weight: Any,
    schema: Schema | None,
    *,
    allow_missing: bool = False,
    accept_sparse: bool = True,
) -> Sample:
    """The checked sample of a table of numbers; truth values count as 0 and 1.

    Examples
    --------
    >>> from novum.decomposition.pca import PCA
    >>> numeric_sample(PCA(), [[1, 2], [3, 4]], None, None).numeric.tolist()
    [[1.0, 2.0], [3.0, 4.0]]
    """
    refuse_text(estimator, X)
    if schema is None and _is_plain(X):
        schema = _plain_schema(X.shape[1])
    with _advising():
        sample = check_sample(
            estimator,
            X,
            None,
            sample_weight,
            target="none",
            schema=schema,
            allow_missing=allow_missing,
            accept_sparse=accept_sparse,
        )
    if not sample.schema.is_numeric:
        raise no_number(estimator, sample.schema.categorical_columns[0].name, "categories")
    return sample


def numeric_rows(estimator: Any, X: Any) -> Any:
    """Complete rows to project, dense or sparse, read by the schema of the fitted estimator."""
    with _advising():
        return check_features(estimator, X, accept_sparse=True).numeric


@contextmanager
def _advising() -> Iterator[None]:
    """Names the projection that takes missing cells where one that does not has refused them."""
    try:
        yield
    except MissingValuesError as error:
        refusal, clause, _ = str(error).partition("needs every cell.")
        raise MissingValuesError(f"{refusal}{clause} {_ADVICE}") from None


def _is_plain(X: Any) -> bool:
    array = type(X) is np.ndarray and X.dtype.kind == "f"
    return (array or sparse.issparse(X)) and X.ndim == 2 and 0 not in X.shape


@lru_cache(maxsize=8)
def _plain_schema(n_columns: int) -> Schema:
    # A schema of 20,000 columns takes longer to make than their moments.
    return Schema.of_array(n_columns)


def check_squares(sample: Sample) -> None:
    """Refuses numbers whose squares, the variances, leave the range of double precision.

    Examples
    --------
    >>> from novum.decomposition.pca import PCA
    >>> check_squares(numeric_sample(PCA(), [[1e200, 2.0], [3.0, 4.0]], None, None))
    Traceback (most recent call last):
        ...
    novum.core.errors.InputError: Column 'x0' has values as large as 1e+200, whose squares leave \
the range of double precision. Divide all columns by a power of ten.
    """
    low, high = sample.numeric.min(axis=0), sample.numeric.max(axis=0)
    if sample.is_sparse:
        low, high = low.toarray().ravel(), high.toarray().ravel()
    size = np.maximum(np.abs(low), np.abs(high))
    largest = int(size.argmax())
    if size[largest] > _LARGEST:
        raise InputError(
            f"Column {sample.schema.names[largest]!r} has values as large as {size[largest]:.3g}, "
            "whose squares leave the range of double precision. Divide all columns by a power of "
            "ten."
        )
    span = float((high - low).max())
    if 0 < span < 1 / _LARGEST:
        raise InputError(
            f"The columns spread over {span:.3g} at most, whose square leaves the range of "
            "double precision. Multiply all columns by a power of ten."
        )


def refuse_text(estimator: Any, X: Any) -> None:
    """Refuses a frame with a column of text or categories."""
    if isinstance(X, (np.ndarray, list)) or not nw.dependencies.is_into_dataframe(X):
        return
    frame = frame_of(X)
    for name, kind in frame.schema.items():
        if isinstance(kind, (nw.String, nw.Categorical, nw.Enum)):
            raise no_number(estimator, name, "text" if kind == nw.String else "categories")


def no_number(estimator: Any, name: str, what: str) -> InputError:
    """The refusal of a column that holds something else than numbers."""
    return InputError(
        f"{type(estimator).__name__} projects numbers, but column {name!r} holds {what}. Leave the "
        "column out, or turn it into numbers in a step before it (one column for each level)."
    )
