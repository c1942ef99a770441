r"""
15. Least squares
=================

**The idea.** The line with the least sum of squared errors. The gradient is zero where the errors
are orthogonal to the columns; where columns repeat each other, a penalty decides.

**The formula.**

.. math:: X^\top X w = X^\top y, \qquad (X^\top X + \lambda I) w = X^\top y, \qquad
          w \leftarrow w - \eta\, X^\top (X w - y) .
"""

import matplotlib.pyplot as plt
import numpy as np

from novum.linear import GradientDescent, LinearRegression, Ridge
from novum.numerics import SquaredLoss
from novum.svm import KernelRidge

# %%
# **The definition in ten lines.**

rng = np.random.default_rng(0)
X = rng.normal(size=(50, 3))
y = X @ [2.0, -1.0, 0.5] + 3.0 + 0.3 * rng.normal(size=50)
Z = np.column_stack([np.ones(50), X])
w = np.linalg.solve(Z.T @ Z, Z.T @ y)
centered, target = X - X.mean(axis=0), y - y.mean()
ridge = np.linalg.solve(centered.T @ centered + 2.0 * np.eye(3), centered.T @ target)
print(w.round(4), ridge.round(4))

# %%
# **The same numbers.**

model = LinearRegression().fit(X, y)
assert np.allclose(np.r_[model.intercept_, model.coef_], w)
assert np.allclose(Ridge(alpha=2.0).fit(X, y).coef_, ridge)
found = model.inference()
residual = y - Z @ w
errors = np.sqrt(np.diag(np.linalg.inv(Z.T @ Z)) * (residual @ residual) / (50 - 4))
assert np.allclose(np.sort(np.ravel(found.standard_errors)), np.sort(errors))

# %%
# The dual form needs inner products only: :math:`a = (X X^\top + \lambda I)^{-1} y`.

a = np.linalg.solve(X @ X.T + 2.0 * np.eye(50), y)
assert np.allclose(X.T @ a, KernelRidge(alpha=2.0, kernel="linear").fit(X, y).coef_)

# %%
# Gradient descent goes the same way slowly.

descent = GradientDescent(max_iter=2000).minimize(SquaredLoss(), X, y)
assert np.allclose(descent.coef, w[1:], atol=1e-3)
fig, ax = plt.subplots(figsize=(5.5, 2.6), layout="constrained")
ax.semilogy(np.array(descent.objectives) - min(descent.objectives) + 1e-16)
ax.set(xlabel="step", ylabel="above the minimum")
plt.show()

# %%
# **Exercise.** The points (0, 1), (1, 3), (2, 5), (3, 8). Slope and intercept of the best line?

slope, intercept = 2.3, 0.8
check = LinearRegression().fit([[0.0], [1.0], [2.0], [3.0]], [1.0, 3.0, 5.0, 8.0])
assert np.allclose([check.coef_[0], check.intercept_], [slope, intercept]), "not yet"
print("right")
