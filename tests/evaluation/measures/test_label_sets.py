"""Measures of sets of labels, by scikit-learn and by counting."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import metrics

from novum.core.errors import InputError
from novum.evaluation import LabelSetReport, label_set_measures


def test_measures_are_scikit_learns() -> None:
    rng = np.random.default_rng(0)
    y, p = rng.random((2, 60, 4)) < 0.4
    w = rng.integers(1, 4, 60).astype(float)
    for weight in (None, w):
        found = label_set_measures(y, p, sample_weight=weight, n_resamples=50)
        more = {"sample_weight": weight}
        theirs = {
            "hamming_loss": metrics.hamming_loss(y, p, **more),
            "f1_micro": metrics.f1_score(y, p, average="micro", **more),
            "f1_macro": metrics.f1_score(y, p, average="macro", **more),
            "exact_match": metrics.accuracy_score(y, p, **more),
        }
        for name, value in theirs.items():
            assert found[name].estimate == pytest.approx(value), name
            assert found[name].low <= value <= found[name].high


def test_a_label_that_nobody_has_counts_as_zero() -> None:
    found = label_set_measures([[1, 0], [0, 0]], [[1, 0], [0, 0]], n_resamples=20)
    assert found["f1_macro"].estimate == 0.5
    assert found["f1_micro"].estimate == 1.0


def test_a_report_shows_sets_and_labels() -> None:
    report = LabelSetReport([[1, 0], [1, 1], [0, 1]] * 4, [[1, 0], [1, 0], [0, 0]] * 4, ["a", "b"])
    assert report.per_label["b"] == {"rows": 8.0, "precision": None, "recall": 0.0, "f1": 0.0}
    assert "exact match" in str(report)
    assert report.to_dict()["overall"]["hamming_loss"]["estimate"] == pytest.approx(1 / 3)


def test_tables_of_other_shapes_are_refused() -> None:
    with pytest.raises(InputError, match="same rows and labels in both"):
        label_set_measures([[1, 0]], [[1], [0]])
