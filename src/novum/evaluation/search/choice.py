"""Choosing among candidates: the simplest that is not clearly worse than the best.

    best   b = argmax_c mean_c
    chosen     simplest c with  mean_c >= mean_b - factor * standard error of mean_b

The best of many candidates is partly the luckiest. Within one standard error of it the scores do
not tell candidates apart, and the simplest is the safer choice (Breiman, Friedman, Olshen and
Stone, 1984, section 3.4.3). A choice is a value that is called with `cv_results_`, so it serves as
`refit` here and in scikit-learn's searches alike.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from novum.core.errors import InputError
from novum.numerics import Floats, Positions, at_least, merge_rounding

Direction = Literal["smallest", "largest"]


@dataclass(frozen=True)
class OneStandardError:
    """The simplest candidate within one standard error of the best.

    Parameters
    ----------
    simplest : mapping of parameters to "smallest" or "largest", or callable
        Which values are simple, the most important parameter first; or a function from a
        candidate's parameters to a number, small for simple.
    measure : str
        Which score, where there are several.
    factor : float
        Standard errors that a candidate may be worse.
    error : {"independent", "corrected"}
        The classic standard error of the best candidate's mean, or the one corrected for the
        overlap of folds, which is larger (needs Novum's `cv_results_`).

    Examples
    --------
    >>> results = {
    ...     "params": [{"alpha": 0.1}, {"alpha": 1.0}, {"alpha": 10.0}],
    ...     "mean_test_score": np.array([0.80, 0.79, 0.60]),
    ...     "split0_test_score": np.array([0.78, 0.77, 0.60]),
    ...     "split1_test_score": np.array([0.82, 0.81, 0.60]),
    ... }
    >>> OneStandardError({"alpha": "largest"})(results)
    1
    """

    simplest: Mapping[str, Direction] | Callable[[Mapping[str, Any]], float]
    measure: str = "score"
    factor: float = 1.0
    error: Literal["independent", "corrected"] = "independent"

    def __post_init__(self) -> None:
        if self.error not in ("independent", "corrected"):
            raise InputError(f"error is 'independent' or 'corrected', got {self.error!r}.")
        if not (np.isfinite(self.factor) and self.factor >= 0):
            raise InputError(f"factor is a number of at least 0, got {self.factor!r}.")
        if callable(self.simplest):
            return
        if not isinstance(self.simplest, Mapping) or not self.simplest:
            raise InputError(
                "simplest maps parameters to 'smallest' or 'largest', such as {'alpha': 'largest'}"
                f", or is a function of the parameters; got {self.simplest!r}."
            )
        for name, direction in self.simplest.items():
            if direction not in ("smallest", "largest"):
                raise InputError(
                    f"The simplest {name} is its 'smallest' or 'largest' value, got {direction!r}."
                )

    def __call__(self, results: Mapping[str, Any]) -> int:
        """The index of the chosen candidate."""
        means = self._column(results, f"mean_test_{self.measure}")
        eligible = self._last_round(results)
        if not np.isfinite(means[eligible]).any():
            raise InputError(
                f"No candidate has a mean {self.measure!r}, so none can be chosen. Find out why "
                "with error_score='raise'."
            )
        best = eligible[np.nanargmax(means[eligible])]
        limit = means[best] - self.factor * self._error(results, int(best))
        near = [int(i) for i in eligible if at_least(means[i], limit)]
        keys = {i: self._simplicity(results["params"][i]) for i in near}
        # Among equally simple candidates the better one, and then the first.
        merged = merge_rounding(means)
        return min(near, key=lambda i: (keys[i], -merged[i], i))

    def _column(self, results: Mapping[str, Any], name: str) -> Floats:
        if name not in results:
            known = [key[10:] for key in results if key.startswith("mean_test_")]
            raise InputError(
                f"The search has no score {self.measure!r}; it has {', '.join(map(repr, known))}."
            )
        return np.asarray(results[name], np.float64)

    def _last_round(self, results: Mapping[str, Any]) -> Positions:
        """Candidates that can be compared: of successive halving those of the last round."""
        if "iter" not in results:
            return np.arange(len(results["params"]))
        rounds = np.asarray(results["iter"])
        return np.flatnonzero(rounds == rounds.max())

    def _error(self, results: Mapping[str, Any], best: int) -> float:
        if self.error == "corrected":
            return float(self._column(results, f"standard_error_test_{self.measure}")[best])
        tail = f"_test_{self.measure}"
        folds = [key for key in results if key.startswith("split") and key.endswith(tail)]
        scores = np.array([results[key][best] for key in folds], np.float64)
        if len(scores) < 2:
            raise InputError("A standard error needs the scores of at least 2 folds.")
        return float(scores.std(ddof=1) / np.sqrt(len(scores)))

    def _simplicity(self, params: Mapping[str, Any]) -> tuple[Any, ...]:
        if callable(self.simplest):
            return (float(self.simplest(params)),)
        return tuple(_ordered(name, params, direction) for name, direction in self.simplest.items())


def _ordered(name: str, params: Mapping[str, Any], direction: Direction) -> float:
    if name not in params:
        raise InputError(
            f"The candidate {dict(params)!r} has no parameter {name!r}, by which the simplest was "
            "to be chosen. Name parameters that are searched, or give a function."
        )
    try:
        value = float(params[name])
    except (TypeError, ValueError) as error:
        raise InputError(
            f"{name}={params[name]!r} is no number, so 'smallest' and 'largest' say nothing. Give "
            "a function from the parameters to a number."
        ) from error
    return value if direction == "smallest" else -value
