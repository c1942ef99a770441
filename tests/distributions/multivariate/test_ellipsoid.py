"""Ellipsoids: circles and known volumes, points on the surface, eigenvalues as squared lengths."""

import numpy as np
import pytest

from novum.core.errors import InputError
from novum.distributions.multivariate.ellipsoid import ellipsoid_of


def test_half_axes_are_roots_of_eigenvalues_along_eigenvectors() -> None:
    # Eigenvalues 9 and 1 along (1, 1) and (1, -1).
    ellipse = ellipsoid_of([0.0, 0.0], [[5.0, 4.0], [4.0, 5.0]], radius=1.0)
    np.testing.assert_allclose(ellipse.half_axes, [3.0, 1.0], rtol=1e-14)
    np.testing.assert_allclose(np.abs(ellipse.axes[:, 0]), [0.5**0.5] * 2, rtol=1e-14)
    assert np.all(ellipse.axes[np.argmax(np.abs(ellipse.axes), axis=0), [0, 1]] > 0)


def test_points_satisfy_the_equation() -> None:
    matrix, center = np.array([[5.0, 4.0], [4.0, 7.0]]), np.array([1.0, -2.0])
    points = ellipsoid_of(center, matrix, radius=1.5).points(37)
    away = points - center
    squares = np.einsum("ni,ij,nj->n", away, np.linalg.inv(matrix), away)
    np.testing.assert_allclose(squares, 1.5**2, rtol=1e-12)
    np.testing.assert_allclose(points[0], points[-1], atol=1e-12)


@pytest.mark.parametrize(
    ("size", "volume"), [(1, 2.0), (2, np.pi), (3, 4 * np.pi / 3), (4, np.pi**2 / 2)]
)
def test_unit_balls_have_their_volume(size: int, volume: float) -> None:
    ball = ellipsoid_of(np.zeros(size), np.eye(size), radius=1.0)
    assert ball.volume == pytest.approx(volume, rel=1e-14)
    assert ellipsoid_of(np.zeros(size), 4 * np.eye(size), 1.0).volume == pytest.approx(
        2**size * volume
    )


def test_inside_and_outside() -> None:
    ellipse = ellipsoid_of([0.0, 0.0], [[4.0, 0.0], [0.0, 1.0]], radius=1.0)
    assert ellipse.contains([[1.9, 0.0], [2.1, 0.0], [0.0, -1.0], [np.inf, 0.0]]).tolist() == [
        True,
        False,
        True,
        False,
    ]
    assert ellipsoid_of([0.0, 0.0], [[1.0, 1.0], [1.0, 1.0]], 1.0).volume == pytest.approx(
        0, abs=1e-7
    )


def test_an_outline_needs_a_plane() -> None:
    ball = ellipsoid_of(np.zeros(3), np.eye(3), 1.0)
    assert ball.points(5, plane=(0, 2)).shape == (5, 3)
    with pytest.raises(InputError, match="two different axes"):
        ball.points(5, plane=(1, 1))
    with pytest.raises(InputError, match="at least two dimensions"):
        ellipsoid_of([0.0], [[1.0]], 1.0).points()
