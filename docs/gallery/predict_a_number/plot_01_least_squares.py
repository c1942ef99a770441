"""
Least squares three ways
========================

The normal equations, gradient descent that arrives at the same line, and ridge where columns repeat
each other. `(X'X + aI) w = X'y` is the whole of it.

*Scope: L1.*
"""

import matplotlib.pyplot as plt
import numpy as np

from novum.linear import GradientDescent, LinearRegression, Ridge
from novum.numerics import SquaredLoss

rng = np.random.default_rng(0)
x = rng.uniform(0, 5, 40)
X = np.column_stack([x, x + 0.01 * rng.normal(size=40)])
y = 1 + 2 * x + rng.normal(0, 0.8, 40)

line = LinearRegression().fit(X[:, :1], y)
descent = GradientDescent(max_iter=5000).minimize(SquaredLoss(), X[:, :1], y)
print("closed form:", line.coef_, "descent:", descent.coef, "in", len(descent.objectives), "steps")

# %%
# Two columns that say almost the same: least squares plays them against each other, ridge does not.

alphas = np.logspace(-4, 3, 30)
path = np.array([Ridge(alpha).fit(X, y).coef_ for alpha in alphas])
print("least squares:", LinearRegression().fit(X, y).coef_.round(1).tolist())

fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.2), layout="constrained")
left.plot(x, y, ".", color="gray")
left.plot(np.sort(x), line.predict(np.sort(x)[:, None]))
right.semilogx(alphas, path)
right.set(xlabel="strength of the penalty", ylabel="coefficients")
plt.show()
