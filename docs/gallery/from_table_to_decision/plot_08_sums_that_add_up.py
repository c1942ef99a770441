"""
Sums that add up, folds without refits
======================================

A least-squares fit depends on the rows through sums. Two halves add to the whole, rows can be taken
out again, and every fold of a cross-validation costs one subtraction.

*Scope: P5, W5, L1.*
"""

import matplotlib.pyplot as plt
import numpy as np

from novum.core import exact_cross_val_predict
from novum.linear import LinearRegression

rng = np.random.default_rng(2)
X = rng.uniform(0, 10, (60, 1))
y = 2 + 0.7 * X[:, 0] + rng.normal(0, 1, 60)

model = LinearRegression()
halves = model.statistics(X[:30], y[:30]) + model.statistics(X[30:], y[30:])
from_sums = LinearRegression().fit_statistics(halves)
whole = LinearRegression().fit(X, y)
print("difference of the slopes:", abs(from_sums.coef_ - whole.coef_).max())

forgotten = LinearRegression().fit(X, y).forget(X[:10], y[:10])
print(
    "after forgetting:", np.allclose(forgotten.coef_, LinearRegression().fit(X[10:], y[10:]).coef_)
)

held_out = exact_cross_val_predict(LinearRegression(), X, y, cv=60)
fig, ax = plt.subplots(figsize=(6, 3.2), layout="constrained")
ax.plot(X[:, 0], y, ".", color="gray", label="rows")
ax.plot(X[:, 0], held_out, "+", color="tab:red", label="each row by a model that never saw it")
ax.legend()
plt.show()
