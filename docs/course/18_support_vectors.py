r"""
18. Support vector machines
===========================

**The idea.** Of all separating lines, the one farthest from both classes. Only the rows on the
margin hold it; slack at a price lets some stand inside.

**The formula.**

.. math:: \min_{w, b} \tfrac12 |w|^2 + C \sum_i \max(0, 1 - y_i (w^\top x_i + b)), \qquad
          \max_\alpha \sum_i \alpha_i - \tfrac12 \sum_{ij} \alpha_i \alpha_j y_i y_j x_i^\top x_j,
          \quad 0 \le \alpha_i \le C, \; \sum_i \alpha_i y_i = 0 .
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import minimize

from novum.svm import SVC, Pegasos

# %%
# **The definition in ten lines.** The dual, by a general-purpose optimizer.

rng = np.random.default_rng(1)
X = np.r_[rng.normal([0, 0], 0.8, (20, 2)), rng.normal([2, 2], 0.8, (20, 2))]
y = np.repeat([-1.0, 1.0], 20)
Q = np.outer(y, y) * (X @ X.T)
found = minimize(
    lambda a: a @ Q @ a / 2 - a.sum(),
    np.full(40, 0.1),
    jac=lambda a: Q @ a - 1,
    bounds=[(0, 1.0)] * 40,
    constraints={"type": "eq", "fun": lambda a: a @ y, "jac": lambda _: y},
    options={"ftol": 1e-12, "maxiter": 500},
)
w = (found.x * y) @ X
print("weights", w.round(4), "value", round(-found.fun, 5))

# %%
# **The same numbers**, with the duality gap that proves them.

model = SVC(kernel="linear", C=1.0, tol=1e-8).fit(X, y)
assert np.allclose(model.coef_[0], w, atol=1e-3)
assert np.isclose(model.certificate_.dual, -found.fun, atol=1e-5)
slack = np.maximum(0, 1 - y * model.decision_function(X))
primal = model.coef_[0] @ model.coef_[0] / 2 + slack.sum()
assert np.isclose(primal, model.certificate_.primal)
print("primal", round(primal, 6), "dual", round(model.certificate_.dual, 6))

# %%
# Bound support vectors are inside of the margin, unbound ones on it. An example is on the wrong
# side exactly when its slack exceeds 1.

assert np.array_equal(slack > 1, model.predict(X) != y)
x, z = np.meshgrid(np.linspace(-2.5, 4.5, 120), np.linspace(-2.5, 4.5, 120))
values = model.decision_function(np.column_stack([x.ravel(), z.ravel()])).reshape(x.shape)
fig, ax = plt.subplots(figsize=(4.6, 3.6), layout="constrained")
ax.contour(x, z, values, [-1, 0, 1], colors="k", linestyles=[":", "-", ":"])
ax.scatter(*X.T, c=y, cmap="coolwarm", s=14)
ax.scatter(*X[model.unbound_].T, s=80, facecolors="none", edgecolors="k", label="on the margin")
ax.legend()
plt.show()

# %%
# Pegasos minimizes the same in the primal, a row at a time, up to its tolerance.

steps = Pegasos(alpha=1 / 40, tol=0.02, random_state=0).fit(X, y)
print("relative gap:", round(steps.certificate_.relative_gap, 4))

# %%
# **Exercise.** Class -1 at 0 and 1, class 1 at 3 and 4, no slack. Where is the boundary, and how
# wide is the margin to either side?

boundary, margin = 2.0, 1.0
line = SVC(kernel="linear", C=float("inf")).fit([[0.0], [1.0], [3.0], [4.0]], [-1, -1, 1, 1])
found = [-line.intercept_[0] / line.coef_[0, 0], line.margin_]
assert np.allclose(found, [boundary, margin]), "not yet"
print("right")
