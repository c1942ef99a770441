"""What fitted principal components do with rows: project, rebuild, whiten, score.

    coordinates     z = U (x - m),          whitened  z_j / sqrt(l_j)
    reconstruction  x^ = m + U'z,           error     |x - x^|^2
    density         normal with mean m and covariance C = U'(L - v)U + v I

with the variances `L = diag(l_1, ..., l_k)` along the axes and the noise v outside them (Tipping
and Bishop 1999). The inverse of C is `U'L^-1 U + (I - U'U)/v`, so that no matrix is inverted.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from novum.core.errors import InputError, ModelFileError
from novum.core.learners import Certificate
from novum.core.runtime import answered
from novum.core.tables import Schema
from novum.decomposition.centered_rows import dense_blocks, projected
from novum.decomposition.numeric_rows import numeric_rows
from novum.decomposition.spectrum import Spectrum
from novum.numerics import Floats, one_blas_thread

LOG_TWO_PI = float(np.log(2 * np.pi))


class PrincipalProjection(ClassNamePrefixFeaturesOutMixin, TransformerMixin):
    """The fitted side of `PCA`."""

    whiten: bool
    schema_: Schema
    certificate_: Certificate
    components_: Floats
    explained_variance_: Floats
    explained_variance_ratio_: Floats
    singular_values_: Floats
    mean_: Floats
    noise_variance_: float

    def _store_axes(self, spectrum: Spectrum, count: int) -> None:
        squares, total = spectrum.squares[:count], spectrum.total
        degrees = spectrum.weight - 1.0
        left = spectrum.outside(count)
        self.mean_ = np.array(spectrum.mean)
        self.components_ = np.ascontiguousarray(spectrum.axes[:count])
        self.explained_variance_ = squares / degrees
        self.explained_variance_ratio_ = squares / total if total > 0 else np.zeros(count)
        self.singular_values_ = np.sqrt(squares)
        others = spectrum.limit - count
        self.noise_variance_ = left / degrees / others if others > 0 else 0.0
        self.reconstruction_error_ = left / spectrum.weight
        self.n_components_ = int(count)
        self.n_samples_ = int(spectrum.rows)

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    # Projection

    def transform(self, X: Any) -> Floats:
        """Coordinates of rows along the components, of shape (n_rows, n_components)."""
        rows = self._rows(X)
        mean = self.mean_.astype(np.float64, copy=False)
        directions = self._directions().astype(np.float64, copy=False)
        with one_blas_thread():
            scores = projected(rows, mean, directions, is_near=self._is_near())
        return answered(self.components_, X, scores)

    def _is_near(self) -> bool:
        """Whether the mean is within four standard deviations of zero."""
        mean = self.mean_.astype(np.float64, copy=False)
        return bool(mean @ mean <= 16 * self.explained_variance_.sum(dtype=np.float64))

    def inverse_transform(self, X: Any) -> Floats:
        """Rows with given coordinates, of shape (n_rows, n_columns)."""
        check_is_fitted(self)
        Z = check_array(X, dtype=np.float64, ensure_min_features=0)
        if Z.shape[1] != len(self.components_):
            raise InputError(
                f"Coordinates have {Z.shape[1]} columns, but there are {len(self.components_)} "
                "components. Pass what `transform` returns."
            )
        axes = self.components_
        if self.whiten:
            axes = np.sqrt(self.explained_variance_)[:, None] * axes
        with one_blas_thread():
            restored = np.asarray(Z @ axes + self.mean_)
        return answered(self.components_, X, restored)

    def reconstruction_error(self, X: Any) -> Floats:
        """Squared distance of every row from its projection, of shape (n_rows,)."""
        rows = self._rows(X)
        errors, axes = np.empty(rows.shape[0]), self.components_
        with one_blas_thread():
            for start, stop, block in dense_blocks(rows):
                about = block - self.mean_
                about -= (about @ axes.T) @ axes
                errors[start:stop] = np.einsum("ij,ij->i", about, about)
        return errors

    def _directions(self) -> Floats:
        """Columns that coordinates are products with; zero where whitening finds no variance."""
        axes = self.components_.T
        if not self.whiten:
            return np.ascontiguousarray(axes)
        spread = np.sqrt(self.explained_variance_)
        floor = len(self.mean_) * np.finfo(float).eps * spread.max(initial=0.0)
        seen = spread > floor
        return np.ascontiguousarray(np.where(seen, axes / np.where(seen, spread, 1.0), 0.0))

    # Density

    def score_samples(self, X: Any) -> Floats:
        """Log-density of every row under the normal law of the components and the noise."""
        rows = self._rows(X)
        variances, noise = self._law()
        d, k = len(self.mean_), len(variances)
        constant = d * LOG_TWO_PI + float(np.sum(np.log(variances)))
        constant += (d - k) * float(np.log(noise)) if k < d else 0.0
        scores, axes = np.empty(rows.shape[0]), self.components_
        with one_blas_thread():
            for start, stop, block in dense_blocks(rows):
                about = block - self.mean_
                Z = about @ axes.T
                scores[start:stop] = np.sum(Z * Z / variances, axis=1)
                if k < d:
                    about -= Z @ axes
                    scores[start:stop] += np.einsum("ij,ij->i", about, about) / noise
        return -0.5 * (scores + constant)

    def score(self, X: Any, y: Any = None) -> float:  # noqa: ARG002
        """Mean log-density of the rows."""
        return float(np.mean(self.score_samples(X)))

    def get_covariance(self) -> Floats:
        """Covariance of the law: `U'(L - v)U + v I`."""
        check_is_fitted(self)
        axes, noise = self.components_, self.noise_variance_
        above = np.maximum(self.explained_variance_ - noise, 0.0)
        return np.asarray((axes.T * above) @ axes + noise * np.eye(axes.shape[1]))

    def get_precision(self) -> Floats:
        """Inverse of the covariance: `U'L^-1 U + (I - U'U)/v`."""
        check_is_fitted(self)
        axes = self.components_
        variances, noise = self._law()
        inner = (axes.T / variances) @ axes
        if len(axes) == axes.shape[1]:
            return np.asarray(inner)
        return np.asarray(inner + (np.eye(axes.shape[1]) - axes.T @ axes) / noise)

    def _law(self) -> tuple[Floats, float]:
        """Variances along the axes and outside them; refuses laws without a density."""
        noise = self.noise_variance_
        variances = np.maximum(self.explained_variance_, noise)
        k, d = self.components_.shape
        # Zero up to what rounding leaves of a variance.
        floor = d * np.finfo(float).eps * float(variances.max(initial=noise))
        if not variances.min(initial=np.inf) > floor or (k < d and not noise > floor):
            raise InputError(
                f"The law of {k} components in {d} columns has no density: outside some directions "
                "it has no variance. Choose fewer components, so that noise is left, or leave out "
                "columns that depend on others."
            )
        return variances, noise

    # Checks

    def _rows(self, X: Any) -> Any:
        check_is_fitted(self)
        return numeric_rows(self, X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _check_state(self) -> None:
        """Refuses a loaded model whose parts do not fit together."""
        k, d = self.n_components_, self.schema_.n_columns
        shapes = {
            "components_": (k, d),
            "mean_": (d,),
            "explained_variance_": (k,),
            "explained_variance_ratio_": (k,),
            "singular_values_": (k,),
        }
        for name, shape in shapes.items():
            values = np.asarray(getattr(self, name))
            if values.shape != shape:
                raise ModelFileError(
                    f"The model has {name} of shape {values.shape}, but {k} components of {d} "
                    f"columns need {shape}."
                )
            if not np.isfinite(values).all():
                raise ModelFileError(f"The model has numbers in {name} that are not finite.")
        axes = self.components_
        if not np.allclose(axes @ axes.T, np.eye(k), atol=1e-6):
            raise ModelFileError("The components of the model are not orthonormal.")
        if not ((self.explained_variance_ >= 0).all() and self.noise_variance_ >= 0):
            raise ModelFileError("The model has negative variances.")
