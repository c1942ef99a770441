"""Ellipsoids: where the density of a normal or Student t law is constant.

    { x : (x - c)' A^-1 (x - c) = r^2 }

With `A = V diag(l) V'` the axes are the eigenvectors, and the half-axis along `v_j` has length
`r sqrt(l_j)`: the square root of the eigenvalue, since l_j is a squared length. The inside of the
ellipsoid is the smallest region that holds a given probability.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from novum.core.errors import InputError
from novum.distributions.multivariate.coordinates import checked_points
from novum.numerics import Floats, Mask


@dataclass(frozen=True, eq=False)
class Ellipsoid:
    """A surface of constant density and the region inside it.

    Parameters
    ----------
    center : array (d,)
    axes : array (d, d)
        Columns are orthonormal directions, the longest half-axis first.
    half_axes : array (d,)
        Lengths from the center to the surface.

    Examples
    --------
    >>> ellipse = ellipsoid_of([1.0, 0.0], [[9.0, 0.0], [0.0, 4.0]], radius=2.0)
    >>> ellipse.half_axes.tolist()
    [6.0, 4.0]
    >>> ellipse.contains([[6.5, 0.0], [7.5, 0.0]]).tolist()
    [True, False]
    >>> round(ellipse.volume / np.pi, 12)
    24.0
    """

    center: Floats
    axes: Floats
    half_axes: Floats

    @property
    def size(self) -> int:
        return len(self.center)

    @property
    def volume(self) -> float:
        """Length, area or volume inside: `pi^(d/2) / G(d/2 + 1)` times the half-axes."""
        d = self.size
        log_ball = d / 2 * np.log(np.pi) - special.gammaln(d / 2 + 1)
        with np.errstate(divide="ignore", over="ignore"):
            return float(np.exp(log_ball + np.log(self.half_axes).sum()))

    def contains(self, x: ArrayLike) -> Mask:
        """Whether points of shape `(..., d)` lie inside or on the surface."""
        points = checked_points(x, self.size, "ellipsoid")
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            shares = ((points - self.center) @ self.axes) / self.half_axes
            return np.linalg.norm(shares, axis=-1) <= 1

    def points(self, n_points: int = 200, plane: tuple[int, int] = (0, 1)) -> Floats:
        """Points around the ellipse that two of the axes span, closed: the last is the first.

        Parameters
        ----------
        n_points : int
            How many, at least 2.
        plane : (int, int)
            Which axes, by their order of length. In two dimensions there is only one plane.

        Returns
        -------
        array (n_points, d)
        """
        first, second = plane
        if self.size < 2 or n_points < 2 or not 0 <= min(plane) < max(plane) < self.size:
            raise InputError(
                "An outline needs at least two points and two different axes of an ellipsoid of "
                f"at least two dimensions; got n_points={n_points}, plane={plane} of {self.size}."
            )
        angle = np.linspace(0.0, 2 * np.pi, n_points)[:, None]
        along = np.cos(angle) * self.half_axes[first] * self.axes[:, first]
        across = np.sin(angle) * self.half_axes[second] * self.axes[:, second]
        return self.center + along + across


def ellipsoid_of(center: ArrayLike, matrix: ArrayLike, radius: float) -> Ellipsoid:
    """The ellipsoid `(x - c)' A^-1 (x - c) = radius^2` of a semidefinite matrix A."""
    values, vectors = np.linalg.eigh(np.asarray(matrix, np.float64))
    # Eigenvalues that rounding made negative belong to directions without extent.
    lengths = radius * np.sqrt(np.maximum(values[::-1], 0.0))
    axes = vectors[:, ::-1]
    # The sign of an eigenvector is arbitrary; its largest entry is made positive.
    largest = axes[np.argmax(np.abs(axes), axis=0), np.arange(len(axes))]
    return Ellipsoid(np.asarray(center, np.float64), axes * np.sign(largest), lengths)
