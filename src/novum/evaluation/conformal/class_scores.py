"""How strange a class is for a row: the scores behind sets of classes.

With probabilities `p`, classes in the order of falling probability, `r(y)` the rank of class `y`
from 1, and `u` uniform on (0, 1), drawn once for a row,

    least ambiguous     s(x, y) = 1 - p_y
    adaptive            s(x, y) = sum of p_c over classes before y  +  u p_y
    regularized         s(x, y) = adaptive  +  penalty * max(0, r(y) - free)

Sets by the first are the smallest on average; those by the second adapt to how hard a row is, and
cover easy and hard rows alike; the third keeps such sets short where there are many classes.
`u = 1` (`randomized=False`) makes adaptive sets a function of the row and a little too large.

References
----------
Sadinle, Lei and Wasserman 2019, JASA 114, 223-234; Romano, Sesia and Candès 2020, NeurIPS 33,
equation 6; Angelopoulos, Bates, Jordan and Malik 2021, ICLR, equation 4.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from novum.core.errors import InputError
from novum.numerics import Floats


@dataclass(frozen=True)
class LeastAmbiguous:
    """`1 - p_y`.

    Examples
    --------
    >>> LeastAmbiguous()(np.array([[0.7, 0.3]]), np.array([0.5])).round(2).tolist()
    [[0.3, 0.7]]
    """

    name: ClassVar[str] = "lac"
    randomized: ClassVar[bool] = False

    def __call__(self, probabilities: Floats, uniform: Floats) -> Floats:
        """Scores of all classes, of shape (n, K); `uniform` of shape (n,) plays no part."""
        del uniform
        return np.asarray(1.0 - probabilities)


@dataclass(frozen=True)
class Adaptive:
    """The probability of all classes at least as likely as `y`, of `y` itself only a part.

    Parameters
    ----------
    randomized : bool
        Whether that part is drawn, which makes the coverage exact; else it is all.

    Examples
    --------
    >>> p = np.array([[0.6, 0.3, 0.1]])
    >>> Adaptive(randomized=False)(p, np.array([0.5])).round(2).tolist()
    [[0.6, 0.9, 1.0]]
    >>> Adaptive()(p, np.array([0.5])).round(2).tolist()
    [[0.3, 0.75, 0.95]]
    """

    randomized: bool = True
    name: ClassVar[str] = "aps"

    def __call__(self, probabilities: Floats, uniform: Floats) -> Floats:
        """Scores of all classes, of shape (n, K)."""
        return self._ranked(probabilities, uniform)[0]

    def _ranked(self, probabilities: Floats, uniform: Floats) -> tuple[Floats, Floats]:
        """Scores and ranks from 1, both of shape (n, K); of equals the first class leads."""
        order = np.argsort(-probabilities, axis=1, kind="stable")
        falling = np.take_along_axis(probabilities, order, axis=1)
        before = np.cumsum(falling, axis=1) - falling
        share = uniform[:, np.newaxis] if self.randomized else 1.0
        scores, ranks = np.empty(order.shape), np.empty(order.shape)
        np.put_along_axis(scores, order, before + share * falling, axis=1)
        np.put_along_axis(ranks, order, np.arange(1.0, order.shape[1] + 1)[np.newaxis], axis=1)
        return scores, ranks


@dataclass(frozen=True)
class RegularizedAdaptive(Adaptive):
    """Adaptive scores with a price for classes far down the list.

    Parameters
    ----------
    penalty : float
        For every rank beyond `free`.
    free : int
        Ranks without a price.
    randomized : bool

    Examples
    --------
    >>> score = RegularizedAdaptive(penalty=0.5, free=1, randomized=False)
    >>> score(np.array([[0.6, 0.3, 0.1]]), np.array([0.5])).round(2).tolist()
    [[0.6, 1.4, 2.0]]
    """

    penalty: float = 0.01
    free: int = 5
    name: ClassVar[str] = "raps"

    def __post_init__(self) -> None:
        if not self.penalty >= 0 or not self.free >= 0:
            raise InputError(
                f"penalty and free are at least 0, got {self.penalty!r} and {self.free!r}."
            )

    def __call__(self, probabilities: Floats, uniform: Floats) -> Floats:
        """Scores of all classes, of shape (n, K)."""
        scores, ranks = self._ranked(probabilities, uniform)
        return scores + self.penalty * np.maximum(0.0, ranks - self.free)


ClassScore = LeastAmbiguous | Adaptive
CLASS_SCORES: dict[str, ClassScore] = {
    "lac": LeastAmbiguous(),
    "aps": Adaptive(),
    "raps": RegularizedAdaptive(),
}


def class_score(given: str | ClassScore) -> ClassScore:
    """The score of that name, or the given one.

    Examples
    --------
    >>> class_score("lac")
    LeastAmbiguous()
    """
    return CLASS_SCORES[given] if isinstance(given, str) else given
