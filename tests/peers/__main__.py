"""scikit-learn's own tests with Novum's classes in place of its own: `make peer-tests`.

The installed test modules run as they are; only the names that both libraries have are Novum's
(`names_in_place.py`). What fails and why stands in `differences.toml`; a test that fails and is not
there, or is there and passes, fails the run. Arguments are pytest's: `-k svm`, `--runxfail`.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

MODULES = [
    "sklearn.decomposition.tests.test_pca",
    "sklearn.ensemble.tests.test_bagging",
    "sklearn.ensemble.tests.test_forest",
    "sklearn.ensemble.tests.test_stacking",
    "sklearn.ensemble.tests.test_voting",
    "sklearn.ensemble.tests.test_weight_boosting",
    "sklearn.feature_selection.tests.test_chi2",
    "sklearn.feature_selection.tests.test_feature_select",
    "sklearn.feature_selection.tests.test_mutual_info",
    "sklearn.feature_selection.tests.test_sequential",
    "sklearn.inspection.tests.test_partial_dependence",
    "sklearn.inspection.tests.test_permutation_importance",
    "sklearn.linear_model.tests.test_base",
    "sklearn.linear_model.tests.test_common",
    "sklearn.linear_model.tests.test_logistic",
    "sklearn.linear_model.tests.test_perceptron",
    "sklearn.linear_model.tests.test_ridge",
    "sklearn.metrics.tests.test_classification",
    "sklearn.metrics.tests.test_ranking",
    "sklearn.metrics.tests.test_score_objects",
    "sklearn.model_selection.tests.test_classification_threshold",
    "sklearn.model_selection.tests.test_search",
    "sklearn.model_selection.tests.test_successive_halving",
    "sklearn.model_selection.tests.test_validation",
    "sklearn.neighbors.tests.test_kde",
    "sklearn.neighbors.tests.test_lof",
    "sklearn.neighbors.tests.test_neighbors",
    "sklearn.neighbors.tests.test_neighbors_pipeline",
    "sklearn.preprocessing.tests.test_data",
    "sklearn.svm.tests.test_sparse",
    "sklearn.svm.tests.test_svm",
    "sklearn.tests.test_calibration",
    "sklearn.tests.test_discriminant_analysis",
    "sklearn.tests.test_dummy",
    "sklearn.tests.test_kernel_approximation",
    "sklearn.tests.test_kernel_ridge",
    "sklearn.tests.test_multiclass",
    "sklearn.tests.test_multioutput",
    "sklearn.tests.test_naive_bayes",
    "sklearn.tests.test_pipeline",
    "sklearn.tree.tests.test_tree",
]

if __name__ == "__main__":
    here = Path(__file__).parent
    arguments = [
        "-p",
        "tests.peers.names_in_place",
        "-c",
        str(here / "pytest.ini"),
        "-q",
        "-n",
        "2",
    ]
    sys.exit(pytest.main([*arguments, *sys.argv[1:], "--pyargs", *MODULES]))
