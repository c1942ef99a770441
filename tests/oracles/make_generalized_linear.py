"""Writes `generalized_linear.json`: what statsmodels 0.15.0 says about generalized linear models.

Run in an environment with statsmodels: `python tests/oracles/make_generalized_linear.py`.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

LAWS = (
    "gaussian",
    "bernoulli",
    "poisson",
    "gamma",
    "gamma inverse",
    "negative binomial",
    "tweedie",
)


def table(law: str) -> dict[str, list]:
    """Rows with two columns, weights (whole numbers) and offsets; three digits are enough."""
    rng = np.random.default_rng(LAWS.index(law))
    X = rng.normal(size=(60, 2)).round(3)
    offset = rng.uniform(-0.3, 0.3, 60).round(3)
    weight = rng.integers(1, 4, 60)
    score = 0.5 + 0.4 * X[:, 0] - 0.3 * X[:, 1] + offset
    mean = np.exp(score)
    y = {
        "gaussian": lambda: score + rng.normal(size=60),
        "bernoulli": lambda: (rng.random(60) < 1 / (1 + np.exp(-score))).astype(float),
        "poisson": lambda: rng.poisson(mean).astype(float),
        "gamma": lambda: rng.gamma(2.0, mean / 2.0),
        "gamma inverse": lambda: rng.gamma(5.0, 1 / (3 + 0.3 * X[:, 0]) / 5.0),
        "negative binomial": lambda: rng.poisson(mean * rng.gamma(2.0, 0.5, 60)).astype(float),
        "tweedie": lambda: rng.poisson(mean) * rng.gamma(2.0, 0.5, 60),
    }[law]()
    if law == "gamma inverse":
        offset = np.zeros(60)
    columns = {"X": X, "y": y.round(3), "offset": offset, "weight": weight}
    return {name: values.tolist() for name, values in columns.items()}


def main() -> None:
    import statsmodels.api as sm
    from statsmodels.genmod import families

    links = families.links
    known = {
        "gaussian": families.Gaussian(),
        "bernoulli": families.Binomial(),
        "poisson": families.Poisson(),
        "gamma": families.Gamma(links.Log()),
        "gamma inverse": families.Gamma(links.InversePower()),
        "negative binomial": families.NegativeBinomial(alpha=0.5),
        "tweedie": families.Tweedie(links.Log(), var_power=1.5),
    }
    found = {}
    for law in LAWS:
        rows = table(law)
        X, y, offset, weight = (np.array(rows[k]) for k in ("X", "y", "offset", "weight"))
        model = sm.GLM(y, sm.add_constant(X), family=known[law], offset=offset, freq_weights=weight)
        fit = model.fit(tol=1e-14, maxiter=200, tol_criterion="params")
        small = sm.GLM(
            y, sm.add_constant(X[:, :1]), family=known[law], offset=offset, freq_weights=weight
        ).fit(tol=1e-14, maxiter=200, tol_criterion="params")
        repeated = np.repeat(np.arange(60), weight)
        robust = sm.GLM(
            y[repeated],
            sm.add_constant(X[repeated]),
            family=known[law],
            offset=offset[repeated],
        ).fit(tol=1e-14, maxiter=200, tol_criterion="params", cov_type="HC0")
        found[law] = {
            **rows,
            "params": fit.params.tolist(),
            "bse": fit.bse.tolist(),
            "p_values": fit.pvalues.tolist(),
            "robust": robust.bse.tolist(),
            "deviance": fit.deviance,
            "null_deviance": fit.null_deviance,
            "pearson": float(fit.pearson_chi2),
            "scale": fit.scale,
            "log_likelihood": None if law == "tweedie" else fit.llf,
            "aic": None if law == "tweedie" else fit.aic,
            "bic": None if law == "tweedie" else fit.bic_llf,
            "small_deviance": small.deviance,
        }
    path = Path(__file__).with_name("generalized_linear.json")
    path.write_text(json.dumps(found, indent=None, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
