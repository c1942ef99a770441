"""Boundaries: values against densities, kinds of quadrics by example, units and offsets."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from novum.bayes.discriminants import (
    BoundaryKind,
    check_two_classes,
    equal_covariances,
    hyperplane_between,
    quadric_between,
)
from novum.core.errors import InputError
from novum.numerics import Floats


def covariance(rng: np.random.Generator, d: int) -> Floats:
    root = np.eye(d) + 0.4 * rng.normal(size=(d, d))
    return root @ root.T


@given(st.integers(0, 10**6), st.integers(1, 4))
def test_values_are_the_log_ratio_of_the_posteriors(seed: int, d: int) -> None:
    rng = np.random.default_rng(seed)
    a, b, C, D = rng.normal(size=d), rng.normal(size=d), covariance(rng, d), covariance(rng, d)
    points = rng.normal(size=(6, d))
    prior = rng.uniform(0.1, 0.9)
    ratio = float(np.log(prior / (1 - prior)))
    laws = [stats.multivariate_normal(m, M) for m, M in ((a, C), (b, D), (b, C))]
    found = quadric_between(a, C, b, D, ratio).values(points)
    expected = laws[0].logpdf(points) - laws[1].logpdf(points) + ratio
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-8)
    plane = hyperplane_between(a, b, C, ratio)
    expected = laws[0].logpdf(points) - laws[2].logpdf(points) + ratio
    np.testing.assert_allclose(plane.values(points), expected, rtol=1e-8, atol=1e-8)


def test_a_hyperplane_by_hand() -> None:
    """Equal spheres: the plane is the bisector, moved towards the rarer class by the priors."""
    plane = hyperplane_between([2.0, 0.0], [0.0, 0.0], np.eye(2), np.log(3.0))
    assert plane.normal.tolist() == [2.0, 0.0]
    assert plane.distance([[1.0, 5.0]])[0] == pytest.approx(np.log(3.0) / 2)
    # In the direction of the Mahalanobis distance, not of the line between the means.
    slanted = hyperplane_between([1.0, 1.0], [0.0, 0.0], np.diag([1.0, 4.0]))
    np.testing.assert_allclose(slanted.normal, [1.0, 0.25])


ZERO = np.zeros(2)
KINDS = [
    (ZERO, np.eye(2), np.ones(2), np.eye(2), 0.0, "hyperplane"),
    (ZERO, np.eye(2), ZERO, np.eye(2), 0.0, "everywhere"),
    (ZERO, np.eye(2), ZERO, np.eye(2), 1.0, "nowhere"),
    (ZERO, np.eye(2), ZERO, 4 * np.eye(2), 0.0, "sphere"),
    (ZERO, np.eye(2), np.ones(2), np.diag([4.0, 9.0]), 0.0, "ellipsoid"),
    (ZERO, np.eye(2), ZERO, 4 * np.eye(2), -9.0, "nowhere"),
    (ZERO, np.eye(2), ZERO, 4 * np.eye(2), -np.log(4.0), "point"),
    (ZERO, np.diag([1.0, 4.0]), ZERO, np.diag([4.0, 1.0]), 1.0, "hyperboloid"),
    (ZERO, np.diag([1.0, 4.0]), ZERO, np.diag([4.0, 1.0]), 0.0, "crossing hyperplanes"),
    (ZERO, np.diag([1.0, 1.0]), np.array([0.0, 1.0]), np.diag([4.0, 1.0]), 0.0, "paraboloid"),
    (ZERO, np.diag([1.0, 1.0]), ZERO, np.diag([4.0, 1.0]), 0.0, "parallel hyperplanes"),
    (ZERO, np.diag([1.0, 1.0]), ZERO, np.diag([4.0, 1.0]), -np.log(2.0), "hyperplane"),
    (np.zeros(1), np.eye(1), np.zeros(1), 4 * np.eye(1), 0.0, "sphere"),
    (np.zeros(3), np.eye(3), np.zeros(3), np.diag([4.0, 9.0, 1.0]), 0.0, "elliptic cylinder"),
    (
        np.zeros(3), np.eye(3), np.zeros(3), np.diag([4.0, 9.0, 1.0]), -np.log(6.0), "subspace",
    ),
    (np.zeros(3), np.eye(3), np.eye(3)[2], np.diag([4.0, 9.0, 1.0]), 0.0, "paraboloid"),
    (np.zeros(3), np.eye(3), np.eye(3)[2], np.diag([4.0, 1.0, 1.0]), 0.0, "parabolic cylinder"),
    (
        np.zeros(3), np.eye(3), np.eye(3)[2], np.diag([4.0, 0.25, 1.0]), 0.0,
        "hyperbolic paraboloid",
    ),
    (np.zeros(3), np.eye(3), np.zeros(3), np.diag([4.0, 0.25, 1.0]), 1.0, "hyperbolic cylinder"),
    (
        np.zeros(3), np.eye(3), np.zeros(3), np.diag([4.0, 0.25, 0.25]), np.log(2.0), "cone",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("a", "C", "b", "D", "ratio", "kind"), KINDS, ids=[k[-1] for k in KINDS])
def test_kinds_by_example(
    a: Floats, C: Floats, b: Floats, D: Floats, ratio: float, kind: str
) -> None:
    assert quadric_between(a, C, b, D, ratio).kind == kind


@given(st.integers(0, 10**6), st.integers(2, 4))
def test_kinds_do_not_depend_on_units_offsets_or_rotations(seed: int, d: int) -> None:
    rng = np.random.default_rng(seed)
    a, b, C, D = rng.normal(size=d), rng.normal(size=d), covariance(rng, d), covariance(rng, d)
    plain = quadric_between(a, C, b, D)
    scale = 2.0 ** rng.integers(-27, 27, d)
    moved = quadric_between(
        a * scale + 1e3, C * np.outer(scale, scale), b * scale + 1e3, D * np.outer(scale, scale)
    )
    assert plain.kind == moved.kind
    Q, _ = np.linalg.qr(rng.normal(size=(d, d)))
    turned = quadric_between(Q @ a, Q @ C @ Q.T, Q @ b, Q @ D @ Q.T)
    assert plain.kind == turned.kind
    swapped = quadric_between(b, D, a, C)
    assert plain.kind == swapped.kind


def test_the_center_is_where_the_gradient_vanishes() -> None:
    found = quadric_between([0.0, 1.0], np.eye(2), [2.0, -1.0], np.diag([4.0, 9.0]))
    assert found.center is not None
    np.testing.assert_allclose(2 * found.matrix @ found.center + found.vector, 0, atol=1e-12)
    # An ellipse of the points as likely under both: on it the value is zero.
    direction = np.array([0.6, 0.8])
    size = np.sqrt(-found.values(found.center) / (direction @ found.matrix @ direction))
    assert found.values(found.center + size * direction) == pytest.approx(0, abs=1e-12)
    assert quadric_between([0.0, 0.0], np.eye(2), [1.0, 1.0], np.eye(2)).center is None


def test_covariances_are_equal_up_to_rounding_only() -> None:
    C = np.array([[2.0, 0.5], [0.5, 1.0]])
    assert equal_covariances(C, C * (1 + 1e-13))
    assert not equal_covariances(C, C * (1 + 1e-6))
    assert BoundaryKind.SPHERE == "sphere"
    with pytest.raises(InputError, match="two different classes"):
        check_two_classes(1, 1)
