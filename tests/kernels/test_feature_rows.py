"""Rows of features: inner products, parts, and other objects in the same form."""

from __future__ import annotations

import numpy as np

from novum.kernels.feature_rows import FeatureRows

FEATURES = np.random.default_rng(0).normal(size=(5, 3))


def test_similarities_are_inner_products() -> None:
    rows = FeatureRows.of(FEATURES)
    expected = np.array([[sum(a * b) for b in FEATURES] for a in FEATURES])
    np.testing.assert_allclose(rows.gram(), expected, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(rows.diagonal(), np.diagonal(expected), rtol=1e-13)
    part = rows.take([3, 1])
    assert len(part) == 2
    np.testing.assert_allclose(part.cross(rows), expected[[3, 1]], rtol=1e-13, atol=1e-13)
    assert part.cross(rows, np.float32).dtype == np.float32


def test_other_objects_have_other_features() -> None:
    rows = FeatureRows.of(FEATURES)
    new = rows.with_features(np.ones((2, 3)))
    np.testing.assert_allclose(new.cross(rows)[0], FEATURES.sum(axis=1), rtol=1e-13)


def test_no_features_are_no_similarity() -> None:
    rows = FeatureRows.of(np.empty((3, 0)))
    np.testing.assert_array_equal(rows.gram(), np.zeros((3, 3)))
