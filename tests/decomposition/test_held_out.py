"""Held-out likelihoods: against densities of fitted models, folds by content."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse, stats

from novum.core.errors import InputError
from novum.decomposition.component_choice import ByLikelihood
from novum.decomposition.held_out import _folds, held_out_scores
from novum.decomposition.numeric_rows import numeric_sample
from novum.decomposition.pca import PCA
from novum.decomposition.pca_routes import exact_spectrum
from novum.decomposition.probabilistic_pca import ProbabilisticPCA
from tests.decomposition.component_tables import low_rank_table


@pytest.mark.parametrize("weighted", [False, True])
def test_scores_are_densities_of_refitted_models(weighted: bool) -> None:
    X, rule = low_rank_table(40, 5, 2), ByLikelihood(4, 7)
    weight = np.random.default_rng(0).integers(1, 4, 40) * 1.0 if weighted else None
    sample = numeric_sample(PCA(), X, weight, None)
    scores = held_out_scores(rule, sample, exact_spectrum)
    assert len(scores) == 5
    fold, w = _folds(rule, sample), sample.weights
    for q, score in enumerate(scores):
        total = 0.0
        for number in range(4):
            train, test = fold != number, fold == number
            model = ProbabilisticPCA(q).fit(X[train], sample_weight=w[train])
            law = stats.multivariate_normal(model.mean_, model.get_covariance())
            total += float(w[test] @ law.logpdf(X[test]))
        assert score == pytest.approx(total / w.sum(), rel=1e-9)


def test_equal_rows_share_a_fold_wherever_they_stand() -> None:
    X, rule = low_rank_table(60, 4, 2), ByLikelihood(3)
    plain = _folds(rule, numeric_sample(PCA(), X, None, None))
    order = np.random.default_rng(0).permutation(np.repeat(np.arange(60), 2))
    found = _folds(rule, numeric_sample(PCA(), X[order], None, None))
    np.testing.assert_array_equal(found, plain[order])
    np.testing.assert_array_equal(np.bincount(plain), [20, 20, 20])
    zeros = np.where(np.abs(X) < 1, 0.0, X)
    dense = _folds(rule, numeric_sample(PCA(), -zeros, None, None))
    thin = _folds(rule, numeric_sample(PCA(), sparse.csr_matrix(-zeros), None, None))
    np.testing.assert_array_equal(dense, thin)


def test_another_seed_draws_other_folds() -> None:
    sample = numeric_sample(PCA(), low_rank_table(60, 4, 2), None, None)
    assert (_folds(ByLikelihood(3, 0), sample) != _folds(ByLikelihood(3, 1), sample)).any()


def test_too_few_different_rows_are_refused() -> None:
    sample = numeric_sample(PCA(), np.repeat(np.eye(3), 10, axis=0), None, None)
    with pytest.raises(InputError, match="at least 4 different rows, two for each fold, got 3"):
        held_out_scores(ByLikelihood(2), sample, exact_spectrum)
