"""Fitted models of several targets, asked together.

    (y_1, ..., y_T) = (h_1(x), ..., h_T(x)),   each h_t any model, of classes or of numbers

In place of `MultiOutputRegressor` and `MultiOutputClassifier`, which fit one learner to all
targets, where every target has a model of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from novum.core.errors import InputError
from novum.core.tables import frame_of, is_frame, to_frame
from novum.core.text import listed
from novum.numerics import Floats


@dataclass
class TargetModels:
    """Models of several targets as one.

    Parameters
    ----------
    targets : sequence of str
        Names of the targets.
    models : sequence of fitted models
        One for each, which take the same columns.

    Examples
    --------
    >>> from novum.linear import LinearRegression
    >>> X = pa.table({"x": [0.0, 1.0, 2.0]})
    >>> models = [LinearRegression().fit(X, y) for y in ([0.0, 2.0, 4.0], [1.0, 1.0, 1.0])]
    >>> both = TargetModels(["double", "one"], models)
    >>> both.predict(pa.table({"x": [3.0]})).to_pylist()
    [{'double': 6.0, 'one': 1.0}]
    """

    targets: Any
    models: Any

    def __post_init__(self) -> None:
        if len(self.targets) != len(self.models) or len(set(self.targets)) < len(self.targets):
            raise InputError(
                f"The targets are {listed(self.targets)}, and there are {len(self.models)} models. "
                "Give each target one name and one model."
            )

    def __getitem__(self, target: str) -> Any:
        """The model of one target."""
        if target not in self.targets:
            raise InputError(f"There is no target {target!r}; there are {listed(self.targets)}.")
        return self.models[list(self.targets).index(target)]

    def predict(self, X: Any) -> Any:
        """A column of predictions for each target, in a frame of the library that `X` came in."""
        columns = [np.asarray(model.predict(X)) for model in self.models]
        table = pa.table(dict(zip(self.targets, map(pa.array, columns), strict=True)))
        return to_frame(table, library_of(X))

    def predict_proba(self, X: Any) -> dict[str, Floats]:
        """Probabilities of the classes of each target that has classes, by its name."""
        return {
            name: model.predict_proba(X)
            for name, model in zip(self.targets, self.models, strict=True)
            if hasattr(model, "predict_proba")
        }


@dataclass
class LabelModels(TargetModels):
    """Models of the labels of sets, each of zeros and ones, which answer with sets.

    Parameters
    ----------
    targets, models
        Labels with their models.
    name : str
        Of the column of sets.
    separator : str
        Between the labels of a set; alone it is the empty set.

    Examples
    --------
    >>> from novum.bayes import GaussianNB
    >>> X = pa.table({"x": [0.0, 0.1, 2.0, 2.1]})
    >>> models = [GaussianNB().fit(X, y) for y in ([0, 0, 1, 1], [1, 1, 0, 0])]
    >>> LabelModels(["high", "low"], models).predict(X).tolist()
    ['low', 'low', 'high', 'high']
    """

    name: str = "labels"
    separator: str = ";"

    def predict(self, X: Any) -> Any:
        """The set of each row as a text: all labels of probability above one half."""
        empty = self.separator.strip() or "none"
        return np.array(
            [
                self.separator.join(np.array(self.targets)[row].tolist()) or empty
                for row in self.predict_proba(X) > 0.5
            ]
        )

    def predict_proba(self, X: Any) -> Any:
        """Probability of each label, of shape (n_rows, n_labels)."""
        columns = []
        for model in self.models:
            known = np.asarray(model.classes_).tolist()
            probabilities = np.asarray(model.predict_proba(X))
            columns.append(
                probabilities[:, known.index(1)] if 1 in known else np.zeros(len(probabilities))
            )
        return np.column_stack(columns)


def library_of(X: Any) -> str:
    """The library of a frame: "pandas", "polars" or else "arrow"."""
    if not is_frame(X):
        return "arrow"
    name = str(frame_of(X).implementation).lower()
    return next((one for one in ("pandas", "polars") if one in name), "arrow")
