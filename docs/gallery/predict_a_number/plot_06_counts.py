"""
Counts and their rates
======================

Counts have no negative values and a spread that grows with the mean: a Poisson model with the
exposure, and standard errors for every factor.

*Scope: L1, P5.*
"""

import matplotlib.pyplot as plt
import numpy as np

from novum.linear import GeneralizedLinearModel

rng = np.random.default_rng(0)
age = rng.uniform(18, 80, 500)
years = rng.uniform(0.5, 5, 500)
claims = rng.poisson(years * np.exp(-1.5 + 0.02 * (age - 50)))
model = GeneralizedLinearModel("poisson").fit(age[:, None], claims, exposure=years)
found = model.inference()
print("a year of age multiplies the rate by", np.exp(model.coef_).round(3))
print("standard errors:", found.standard_errors.round(4))

fine = np.linspace(18, 80, 100)
rate = np.exp(model.intercept_ + model.coef_[0] * fine)
edges = np.linspace(18, 80, 8)
cells = np.digitize(age, edges)
seen = [claims[cells == i].sum() / years[cells == i].sum() for i in range(1, 8)]
fig, ax = plt.subplots(figsize=(6, 3), layout="constrained")
ax.plot(fine, rate, label="fitted")
ax.plot((edges[1:] + edges[:-1]) / 2, seen, "o", label="claims a year, by age group")
ax.set(xlabel="age", ylabel="rate")
ax.legend()
plt.show()
