"""What every fitted linear model does with new rows: read them, and add up their effects.

    yhat = b0 + x'b,        x the treatment design of the row (`core.coding`)

A numeric column contributes its cell times its coefficient, a categorical one the coefficient of
its level, against the first level.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from novum.core.coding import Coding
from novum.core.errors import ModelFileError
from novum.core.schema import Schema
from novum.core.single_precision import answered
from novum.core.validation import Sample, check_features, check_sample
from novum.linear.solution import Floats


class LinearPredictor(RegressorMixin):
    """Reading and prediction of a linear model that stores `coef_`, `intercept_` and `schema_`."""

    coef_: Floats
    intercept_: Floats | float
    schema_: Schema

    def predict(self, X: Any) -> Floats:
        """Predicted targets of the rows of `X`, shape (n_rows,) or (n_rows, n_targets)."""
        # One row is predicted in microseconds; scikit-learn's own check takes longer than that.
        if not hasattr(self, "coef_"):
            check_is_fitted(self)
        sample = check_features(self, X, accept_sparse=True, tell_unseen=False)
        coef = np.atleast_2d(self.coef_).T
        scores = Coding(self.schema_).scores(sample, coef) + self.intercept_
        return answered(coef, X, scores[:, 0] if np.ndim(self.coef_) == 1 else scores)

    @property
    def coef_names_(self) -> tuple[str, ...]:
        """Names of the coefficients; a level is `column=level`, against the first level."""
        check_is_fitted(self)
        return Coding(self.schema_).names

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        chosen = getattr(self, "categorical_features", None)
        tags.input_tags.string = chosen is not None
        tags.input_tags.categorical = isinstance(chosen, str) and chosen == "all"
        tags.target_tags.multi_output = True
        return tags

    def _read(self, X: Any, y: Any, sample_weight: Any, schema: Schema | None) -> Sample:
        return check_sample(self, X, y, sample_weight, schema=schema, accept_sparse=True)

    def _check_state(self) -> None:
        """Refuses a loaded model whose parts do not fit together."""
        width = len(self.coef_names_)
        coef = np.asarray(self.coef_)
        if coef.shape[-1:] != (width,) or coef.ndim > 2:
            raise ModelFileError(
                f"The model has coefficients of shape {coef.shape} for {width} columns."
            )
        if not (np.isfinite(coef).all() and np.isfinite(self.intercept_).all()):
            raise ModelFileError("The model has coefficients that are not finite numbers.")
