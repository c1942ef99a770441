"""Certificates of components: bounds that hold, verdicts that follow."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from novum.core.learners import Verdict
from novum.decomposition.pca import certify
from novum.decomposition.spectrum import Spectrum, spectrum_of_moments
from novum.numerics import moments_of
from tests.decomposition.component_tables import low_rank_table


def spectrum() -> Spectrum:
    return spectrum_of_moments(moments_of(low_rank_table(40, 5, 2)), 40.0)


def test_the_value_is_what_the_axes_leave() -> None:
    found = spectrum()
    certificate = certify(found, 2, 0.5)
    assert certificate.value == pytest.approx(found.squares[2:].sum())
    assert certificate.verdict is Verdict.PROVED
    assert certificate.gap is not None
    assert certificate.gap <= 1e-12 * found.total
    assert certificate.details["explained"] == pytest.approx(found.squares[:2].sum() / found.total)
    assert certificate.seconds == 0.5


def test_bounds_hold_for_disturbed_axes() -> None:
    true = spectrum()
    X = low_rank_table(40, 5, 2)
    about = X - X.mean(axis=0)
    S = about.T @ about
    rng = np.random.default_rng(0)
    for size in (1e-3, 1e-2):
        axes = np.linalg.qr((true.axes[:2] + size * rng.normal(size=(2, 5))).T)[0].T
        squares = np.einsum("ij,jk,ik->i", axes, S, axes)
        residual = float(np.linalg.norm(axes @ S - squares[:, None] * axes))
        rough = replace(true, squares=squares, axes=axes, residual=residual, iterations=3)
        certificate = certify(rough, 2, 0.0)
        best = true.squares[2:].sum()
        assert certificate.lower_bound is not None
        assert certificate.lower_bound <= best <= certificate.value
    with_next = replace(true, residual=1e-3)
    angle = certify(with_next, 2, 0.0).details["angle_bound"]
    assert angle == pytest.approx(1e-3 / (true.squares[1] - true.squares[2] - 1e-3))


def test_verdicts_follow_the_residual() -> None:
    found = spectrum()
    iterated = replace(found, iterations=4, residual=1e-6 * found.squares[0])
    assert certify(iterated, 2, 0.0).verdict is Verdict.WITHIN_TOLERANCE
    assert certify(replace(iterated, converged=False), 2, 0.0).verdict is Verdict.STOPPED_EARLY
    # A residual that LAPACK never leaves is not passed off as proof.
    assert certify(replace(iterated, iterations=None), 2, 0.0).verdict is not Verdict.PROVED


def test_a_table_without_variance_is_explained_by_nothing() -> None:
    nothing = Spectrum(np.zeros(2), np.zeros(2), np.eye(2), 0.0, 3.0, 3.0, 0.0, "covariance")
    certificate = certify(nothing, 1, 0.0)
    assert certificate.value == 0.0
    assert certificate.residual == 0.0
    assert "explained" not in certificate.details
