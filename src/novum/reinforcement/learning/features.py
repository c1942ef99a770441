"""Features of states for linear values: tiles, cosines, bumps, and any kernel.

    Q(s, a) = w_a . f(s)

Each value object maps states (n, d) to features (n, k). Boxes of states need their bounds; those of
a Gymnasium environment are taken where they are finite.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import ArrayLike

from novum.core.errors import InputError
from novum.core.runtime import RandomSource, stream
from novum.core.text import listed
from novum.numerics import Floats, Integers, cached_property

# Tiles of the features that are made where none are given: 40 MB for each action.
MOST_TILES = 5_000_000


class Features(Protocol):
    """A map from states to features."""

    n_features: int

    def transform(self, states: Floats) -> Floats:
        """Features of states (n, d), of shape (n, n_features)."""
        ...


def _unit(states: ArrayLike, low: tuple[float, ...], high: tuple[float, ...]) -> Floats:
    """States in the unit box; what lies outside is at its edge."""
    rows = np.atleast_2d(np.asarray(states, np.float64))
    if rows.shape[1] != len(low):
        raise InputError(f"States have {rows.shape[1]} numbers, and the features {len(low)}.")
    if not np.isfinite(rows).all():
        raise InputError("A state holds a number that is not finite.")
    width = np.array(high) - np.array(low)
    return np.clip((rows - np.array(low)) / width, 0.0, 1.0)


def _check_box(low: tuple[float, ...], high: tuple[float, ...]) -> None:
    fits = len(low) == len(high) > 0 and all(a < b for a, b in zip(low, high, strict=True))
    if not fits or not np.isfinite([*low, *high]).all():
        raise InputError(
            f"The bounds of features are finite with low below high in each place, got {low} and "
            f"{high}."
        )


@dataclass(frozen=True)
class TileCoding:
    """Tiles: several grids over the box, each shifted a little; one tile of each is on.

    Examples
    --------
    >>> tiles = TileCoding((0.0,), (1.0,), tiles=4, tilings=2)
    >>> tiles.n_features, np.flatnonzero(tiles.transform([[0.3]])[0]).tolist()
    (10, [1, 6])
    """

    low: tuple[float, ...]
    high: tuple[float, ...]
    tiles: int = 8
    tilings: int = 8

    is_binary: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _check_box(self.low, self.high)

    @property
    def n_features(self) -> int:
        return self.tilings * (self.tiles + 1) ** len(self.low)

    @cached_property
    def shifts(self) -> Floats:
        """How far each tiling is shifted, in tiles: by odd multiples, so that all differ."""
        steps = np.arange(self.tilings)[:, np.newaxis] * (2 * np.arange(len(self.low)) + 1)
        return (steps % self.tilings) / self.tilings

    def active(self, states: ArrayLike) -> Integers:
        """The tile of each tiling that is on, of shape (n, tilings)."""
        unit = _unit(states, self.low, self.high) * self.tiles
        d = unit.shape[1]
        cells = np.minimum((unit[:, np.newaxis, :] + self.shifts).astype(np.int64), self.tiles)
        sizes = (self.tiles + 1) ** np.arange(d)
        return np.asarray(cells @ sizes + np.arange(self.tilings) * (self.tiles + 1) ** d)

    def transform(self, states: ArrayLike) -> Floats:
        on = self.active(states)
        table = np.zeros((len(on), self.n_features))
        np.put_along_axis(table, on, 1.0, axis=1)
        return table


@dataclass(frozen=True)
class FourierFeatures:
    """`cos(pi c . s)` for all whole-number c up to the order (Konidaris and others 2011).

    Examples
    --------
    >>> FourierFeatures((0.0,), (1.0,), order=2).transform([[0.5]]).round(6).tolist()
    [[1.0, 0.0, -1.0]]
    """

    low: tuple[float, ...]
    high: tuple[float, ...]
    order: int = 3

    def __post_init__(self) -> None:
        _check_box(self.low, self.high)

    @cached_property
    def _frequencies(self) -> Floats:
        return np.array(list(product(range(self.order + 1), repeat=len(self.low))), np.float64)

    @property
    def n_features(self) -> int:
        return (self.order + 1) ** len(self.low)

    def transform(self, states: ArrayLike) -> Floats:
        return np.asarray(np.cos(np.pi * _unit(states, self.low, self.high) @ self._frequencies.T))


@dataclass(frozen=True)
class RadialFeatures:
    """Bumps `exp(-|s - c|^2 / (2 width^2))` on a grid in the unit box, and a constant."""

    low: tuple[float, ...]
    high: tuple[float, ...]
    centers: int = 5
    width: float | None = None

    def __post_init__(self) -> None:
        _check_box(self.low, self.high)

    @cached_property
    def _centers(self) -> Floats:
        axis = np.linspace(0, 1, self.centers)
        return np.array(list(product(axis, repeat=len(self.low))))

    @property
    def n_features(self) -> int:
        return self.centers ** len(self.low) + 1

    def transform(self, states: ArrayLike) -> Floats:
        unit = _unit(states, self.low, self.high)
        width = 1 / max(self.centers - 1, 1) if self.width is None else self.width
        squares = ((unit[:, np.newaxis, :] - self._centers) ** 2).sum(axis=2)
        bumps = np.exp(-squares / (2 * width**2))
        return np.hstack([np.ones((len(unit), 1)), bumps])


@dataclass(frozen=True, eq=False)
class KernelFeatures:
    """Similarities `k(s, c)` to given states, by a kernel of `novum.kernels`.

    Examples
    --------
    >>> from novum.kernels import Gaussian
    >>> KernelFeatures(Gaussian(1.0), [[0.0], [1.0]]).transform([[0.0]]).round(4).tolist()
    [[1.0, 0.6065]]
    """

    kernel: Any
    centers: Any

    @property
    def n_features(self) -> int:
        return len(self.centers)

    def transform(self, states: ArrayLike) -> Floats:
        rows = np.atleast_2d(np.asarray(states, np.float64))
        return np.asarray(self.kernel.cross(rows, np.asarray(self.centers, np.float64)))


@dataclass(frozen=True)
class StateIndicators:
    """One feature for each of finitely many states 0, 1, ...: a table as a linear function."""

    n_features: int

    is_binary: ClassVar[bool] = True

    def active(self, states: ArrayLike) -> Integers:
        return np.asarray(states).reshape(-1, 1).astype(np.int64)

    def transform(self, states: ArrayLike) -> Floats:
        rows = np.atleast_1d(np.asarray(states, np.float64))
        is_code = (rows >= 0) & (rows < self.n_features) & (rows == np.floor(rows))
        if rows.size != len(rows) or not is_code.all():
            raise InputError(
                f"StateIndicators({self.n_features}) take states that are numbered 0 to "
                f"{self.n_features - 1}, got {listed(rows.tolist(), 3)}."
            )
        return np.eye(self.n_features)[self.active(rows)[:, 0]]


def features_of(given: Any, environment: Any, random_state: RandomSource = None) -> Any:
    """Features as given, or tiles over the bounds of the environment's states.

    Numbers without bounds have those of 1,000 random steps, twice as wide; the features put what
    lies outside at their edge.
    """
    if given is not None:
        return given
    space = getattr(environment, "single_observation_space", environment.observation_space)
    size = getattr(space, "n", None)
    if size is not None:
        return StateIndicators(int(size))
    low = np.array(space.low, np.float64).ravel()
    high = np.array(space.high, np.float64).ravel()
    endless = ~((np.abs(low) <= 1e6) & (np.abs(high) <= 1e6))
    if endless.any():
        least, most = _bounds_of_random_steps(environment, stream(random_state, "bounds"))
        reach = np.maximum(most - least, 1e-3)[endless] / 2
        low[endless], high[endless] = least[endless] - reach, most[endless] + reach
    tiles = TileCoding(tuple(low.tolist()), tuple(high.tolist()))
    if tiles.n_features > MOST_TILES:
        raise InputError(
            f"States of {len(low)} numbers would have {tiles.n_features:,} tiles. Give features of "
            "your own, such as FourierFeatures(low, high, order=1) or KernelFeatures(...)."
        )
    return tiles


def _bounds_of_random_steps(environment: Any, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """The least and the largest of each number of the states on 1,000 random steps."""
    is_vector = hasattr(environment, "num_envs")
    actions = environment.single_action_space if is_vector else environment.action_space
    shape = (environment.num_envs,) if is_vector else None
    seen, ended = [], True
    for _ in range(1000 // (shape[0] if shape else 1) + 1):
        if ended:
            seen.append(environment.reset(seed=int(rng.integers(2**31)))[0])
        state, _, over, cut, _ = environment.step(rng.integers(actions.n, size=shape))
        seen.append(state)
        ended = not is_vector and bool(over or cut)
    rows = np.asarray(seen, np.float64).reshape(-1, int(np.prod(np.shape(seen[0])[bool(shape) :])))
    return rows.min(axis=0), rows.max(axis=0)
