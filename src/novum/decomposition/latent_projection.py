"""What a fitted probabilistic PCA does with rows: posteriors, densities, samples, missing cells."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from novum.core.errors import InputError, ModelFileError
from novum.core.learners import Certificate
from novum.core.runtime import RandomSource
from novum.core.tables import Schema, check_features
from novum.decomposition.low_rank_normal import LatentPosterior, LowRankNormal
from novum.numerics import Floats


class LatentProjection(ClassNamePrefixFeaturesOutMixin, TransformerMixin):
    """The fitted side of `ProbabilisticPCA`."""

    schema_: Schema
    certificate_: Certificate
    mean_: Floats
    loadings_: Floats
    components_: Floats
    explained_variance_: Floats
    noise_variance_: float

    def _store(
        self, law: LowRankNormal, schema: Schema, certificate: Certificate, total: float
    ) -> None:
        """Stores a law whose loadings lie along the principal axes; `total` is the variance."""
        assert certificate.value is not None
        lengths = np.linalg.norm(law.loadings, axis=0)
        known = lengths > 0
        self.schema_, self.certificate_ = schema, certificate
        self.mean_, self.loadings_ = np.array(law.mean), np.array(law.loadings)
        self.components_ = np.where(known, law.loadings / np.where(known, lengths, 1.0), 0.0).T
        self.noise_variance_ = law.noise_variance
        self.explained_variance_ = lengths**2 + law.noise_variance
        self.explained_variance_ratio_ = self.explained_variance_ / total
        self.n_components_ = law.n_latent
        self.log_likelihood_ = certificate.value
        self.n_iter_ = max(1, certificate.iterations or 1)

    @property
    def law_(self) -> LowRankNormal:
        """The fitted law as a value."""
        check_is_fitted(self)
        return LowRankNormal(self.mean_, self.loadings_, self.noise_variance_)

    @property
    def _n_features_out(self) -> int:
        return self.loadings_.shape[1]

    # The latent coordinates

    def posterior(self, X: Any) -> LatentPosterior:
        """Law of the latent coordinates of rows, from the cells that are present.

        Returns
        -------
        posterior : LatentPosterior
            `mean` (n_rows, n_components), and `covariance`: (n_components, n_components) where no
            cell is missing, since it is then the same for all rows, else one for each row.
        """
        return self.law_.posterior(self._rows(X))

    def transform(self, X: Any) -> Floats:
        """Posterior means of the latent coordinates, of shape (n_rows, n_components)."""
        return self.posterior(X).mean

    def inverse_transform(self, X: Any) -> Floats:
        """Expected rows `m + W z` of latent coordinates, of shape (n_rows, n_columns)."""
        check_is_fitted(self)
        Z = check_array(X, dtype=np.float64, ensure_min_features=0)
        if Z.shape[1] != self.n_components_:
            raise InputError(
                f"Coordinates have {Z.shape[1]} columns, but there are {self.n_components_} "
                "components. Pass what `transform` returns."
            )
        return np.asarray(Z @ self.loadings_.T + self.mean_)

    def fill_missing(self, X: Any) -> Floats:
        """The rows with every missing cell replaced by its expectation given the present ones."""
        rows = self._rows(X)
        expected = self.law_.posterior(rows).mean @ self.loadings_.T + self.mean_
        return np.where(np.isnan(rows), expected, rows)

    # Density

    def score_samples(self, X: Any) -> Floats:
        """Log-density of the present cells of every row."""
        rows, law = self._rows(X), self.law_
        if not np.isnan(np.sum(rows)):
            return law.log_density(rows)
        return law.log_density_observed(rows)

    def log_density(self, X: Any) -> Floats:
        """Log-density of the present cells of every row, under the name that laws have."""
        return self.score_samples(X)

    def score(self, X: Any, y: Any = None) -> float:  # noqa: ARG002
        """Mean log-density of the rows."""
        return float(np.mean(self.score_samples(X)))

    def bic(self, X: Any) -> float:
        """Bayesian information criterion, the smaller the better: `p log n - 2 log L`.

        `p = d q - q (q - 1) / 2 + 1 + d` counts loadings up to a rotation, the noise and the mean.
        """
        scores = self.score_samples(X)
        free = free_parameters(*self.loadings_.shape)
        return float(free * np.log(len(scores)) - 2 * scores.sum())

    def sample(self, n_samples: int = 1, random_state: RandomSource = None) -> Floats:
        """New rows drawn from the law, of shape (n_samples, n_columns)."""
        return self.law_.sample(int(n_samples), random_state)

    def get_covariance(self) -> Floats:
        """`W W' + s2 I`."""
        return self.law_.covariance

    def get_precision(self) -> Floats:
        """The inverse of the covariance."""
        return self.law_.precision

    # Checks

    def _rows(self, X: Any) -> Any:
        check_is_fitted(self)
        return check_features(self, X, allow_missing=True).numeric

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _check_state(self) -> None:
        """Refuses a loaded model whose parts do not fit together."""
        q, d = self.n_components_, self.schema_.n_columns
        if self.loadings_.shape != (d, q) or self.mean_.shape != (d,):
            raise ModelFileError(
                f"The model has loadings of shape {self.loadings_.shape} and a mean of shape "
                f"{self.mean_.shape} for {q} components of {d} columns."
            )
        if self.components_.shape != (q, d) or self.explained_variance_.shape != (q,):
            raise ModelFileError("The components of the model do not fit its loadings.")
        try:
            LowRankNormal(self.mean_, self.loadings_, self.noise_variance_)
        except InputError as error:
            raise ModelFileError(f"The law of the model is damaged: {error}") from error


def free_parameters(d: int, q: int) -> float:
    """Free numbers in a law of d columns and q components: rotations of z change nothing.

    >>> free_parameters(4, 2)
    12.0
    """
    return d * q - q * (q - 1) / 2 + 1 + d
