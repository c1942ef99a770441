"""Make the frozen oracle of ordinal regression: statsmodels on one table, 40 digits on another.

    python make_ordinal.py --out FOLDER

Needs statsmodels 0.15 and mpmath. Written is `ordinal.json`: a table of 150 rows with what
statsmodels' `OrderedModel` says of it under both links (coefficients, thresholds, standard errors
from the observed information, log-likelihood), and a table of 14 rows with the optimum of its
penalized and unpenalized likelihood, found by Newton's method in 60 digits.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import mpmath as mp
import numpy as np
from statsmodels.miscmodels.ordinal_model import OrderedModel

ALPHAS = (0.0, 0.5)


def reference_table() -> tuple[Any, Any]:
    rng = np.random.default_rng(2024)
    X = np.round(rng.normal(size=(150, 3)), 3)
    X[:, 1] = np.round(0.6 * X[:, 0] + X[:, 1], 3)
    latent = X @ [1.0, -0.7, 0.2] + rng.logistic(size=150)
    return X, np.digitize(latent, [-1.0, 0.2, 1.5])


def of_statsmodels(X: Any, y: Any, distribution: str) -> dict[str, Any]:
    model = OrderedModel(y, X, distr=distribution)
    found = model.fit(method="newton", maxiter=200, tol=1e-14, disp=False)
    found = model.fit(start_params=found.params, method="bfgs", gtol=1e-11, disp=False)
    p, m = X.shape[1], len(np.unique(y)) - 1
    thresholds = model.transform_threshold_params(found.params)[1:-1]
    # Errors of thresholds by the delta method: theirs are of logarithms of differences.
    change = np.zeros((p + m, p + m))
    change[:p, :p] = np.eye(p)
    change[p:, p] = 1.0
    for k in range(1, m):
        change[p + k :, p + k] = np.exp(found.params[p + k])
    covariance = change @ found.cov_params() @ change.T
    return {
        "coef": found.params[:p].tolist(),
        "thresholds": thresholds.tolist(),
        "standard_errors": np.sqrt(np.diag(covariance)).tolist(),
        "log_likelihood": float(found.llf),
    }


def small_table() -> tuple[Any, Any]:
    rng = np.random.default_rng(11)
    X = np.round(rng.normal(size=(14, 2)), 2)
    return X, np.digitize(X[:, 0] + rng.logistic(size=14), [-0.8, 0.6])


def optimum(X: Any, y: Any, alpha: float) -> dict[str, Any]:
    """Newton's method in 60 digits on thresholds and coefficients."""
    mp.mp.dps = 60
    p, m = X.shape[1], int(y.max())
    rows = [[mp.mpf(str(cell)) for cell in row] for row in X.tolist()]

    def objective(*params: Any) -> Any:
        theta, b = params[:m], params[m:]
        total = mp.mpf(alpha) / 2 * sum(one * one for one in b)
        for row, k in zip(rows, y.tolist(), strict=True):
            score = sum(x * one for x, one in zip(row, b, strict=True))
            upper = mp.mpf(1) if k == m else 1 / (1 + mp.exp(score - theta[k]))
            lower = mp.mpf(0) if k == 0 else 1 / (1 + mp.exp(score - theta[k - 1]))
            total -= mp.log(upper - lower)
        return total

    size = m + p
    at = [mp.mpf(k) - mp.mpf(m - 1) / 2 for k in range(m)] + [mp.mpf(0)] * p
    step = mp.mpf(10) ** -18

    def moved(*places: tuple[int, int]) -> Any:
        point = list(at)
        for place, sign in places:
            point[place] += sign * step
        return objective(*point)

    for _ in range(60):
        gradient = mp.matrix([(moved((i, 1)) - moved((i, -1))) / (2 * step) for i in range(size)])
        hessian = mp.matrix(size, size)
        for i in range(size):
            for j in range(i + 1):
                both = sum(a * b * moved((i, a), (j, b)) for a in (1, -1) for b in (1, -1)) / (
                    4 * step * step
                )
                hessian[i, j] = hessian[j, i] = both
        move = mp.lu_solve(hessian, -gradient)
        length = mp.mpf(1)
        while (
            objective(*[a + length * d for a, d in zip(at, move, strict=True)]).real
            > objective(*at).real
            and length > mp.mpf(10) ** -6
        ):
            length /= 2
        at = [a + length * d for a, d in zip(at, move, strict=True)]
        if mp.norm(move) < mp.mpf(10) ** -30:
            break
    return {
        "alpha": alpha,
        "coef": [mp.nstr(one, 30) for one in at[m:]],
        "thresholds": [mp.nstr(one, 30) for one in at[:m]],
        "value": mp.nstr(objective(*at), 30),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    folder = parser.parse_args().out
    X, y = reference_table()
    few, classes = small_table()
    found = {
        "X": X.tolist(),
        "y": y.tolist(),
        "logit": of_statsmodels(X, y, "logit"),
        "probit": of_statsmodels(X, y, "probit"),
        "small": {
            "X": few.tolist(),
            "y": classes.tolist(),
            "optima": [optimum(few, classes, alpha) for alpha in ALPHAS],
        },
    }
    (folder / "ordinal.json").write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
