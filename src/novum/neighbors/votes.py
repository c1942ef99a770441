"""What neighbors count: all the same, by their distance, or by a function of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from novum.core.errors import InputError
from novum.numerics import Floats, Integers

Weights = str | Callable[[Any], Any] | None


def vote_weights(weights: Weights, distances: Floats) -> Floats:
    """The weights of neighbors, (n_rows, k), by their distances.

    By distance a neighbor counts 1 / d; one at distance 0 decides alone, several share it. One that
    is infinitely far has no vote where others are not.

    Examples
    --------
    >>> vote_weights("distance", np.array([[0.0, 0.0, 2.0], [1.0, 2.0, 4.0]]))
    array([[1.  , 1.  , 0.  ],
           [1.  , 0.5 , 0.25]])
    """
    if weights is None or (isinstance(weights, str) and weights == "uniform"):
        votes = np.ones_like(distances)
        # A sum tells without a look at each of them.
        if np.isinf(distances.sum()):
            votes[np.isinf(distances)] = 0.0
            votes[(votes == 0.0).all(axis=1)] = 1.0
        return votes
    if weights == "distance":
        same = distances == 0.0
        with np.errstate(divide="ignore"):
            votes = 1.0 / distances
        votes[same.any(axis=1)] = same[same.any(axis=1)]
        # All may be infinitely far; then all count the same.
        votes[(votes == 0.0).all(axis=1)] = 1.0
        return votes
    assert callable(weights)
    with np.errstate(divide="ignore"):
        votes = np.asarray(weights(distances), np.float64)
    if votes.shape != distances.shape or not (votes >= 0).all():
        raise InputError(
            "The function given as weights must give numbers of at least 0, one for each "
            f"distance: shape {distances.shape}, got shape {votes.shape}."
        )
    if not votes.any(axis=1).all():
        raise InputError(
            "All neighbors of some sample is getting zero weights. Please modify 'weights' to "
            "avoid this case if you are using a user-defined function: row "
            f"{int(np.argmin(votes.any(axis=1)))} is the first."
        )
    # An infinite weight decides alone, as a distance of 0 does.
    endless = np.isinf(votes)
    votes[endless.any(axis=1)] = endless[endless.any(axis=1)]
    return votes


def class_votes(codes: Integers, rows: Integers, weights: Floats, n_classes: int) -> Floats:
    """Shares of the votes of every class, (n_rows, n_classes)."""
    m = len(rows)
    places = codes[rows]
    if m > 1:
        places += np.arange(m)[:, np.newaxis] * n_classes
    votes = np.bincount(places.ravel(), weights.ravel(), m * n_classes).reshape(m, n_classes)
    return np.asarray(votes / votes.sum(axis=1, keepdims=True))


def mean_votes(targets: Floats, rows: Integers, weights: Floats) -> Floats:
    """Weighted means of the targets of neighbors, (n_rows, n_targets)."""
    shares = weights / weights.sum(axis=1, keepdims=True)
    return np.asarray(np.einsum("qk,qkt->qt", shares, targets[rows]))
