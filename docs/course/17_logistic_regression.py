r"""
17. Logistic regression
=======================

**The idea.** A line for the log-odds. There is no closed form, but the curvature is known, so
Newton's method needs a handful of steps.

**The formula.**

.. math:: P(1 \mid x) = \frac{1}{1 + e^{-w^\top x}}, \qquad
          w \leftarrow w + (X^\top S X)^{-1} X^\top (y - p), \quad S = \mathrm{diag}(p_i (1 - p_i))
          .
"""

import matplotlib.pyplot as plt
import numpy as np

from novum.linear import LogisticRegression, QuadraticFeatures

# %%
# **The definition in ten lines.**

rng = np.random.default_rng(0)
X = rng.normal(size=(200, 2))
y = (rng.random(200) < 1 / (1 + np.exp(-(1.0 + X @ [2.0, -1.0])))).astype(int)
Z = np.column_stack([np.ones(200), X])
w, trace = np.zeros(3), []
for _ in range(8):
    p = 1 / (1 + np.exp(-Z @ w))
    trace.append(-np.sum(np.log(np.where(y == 1, p, 1 - p))))
    w = w + np.linalg.solve(Z.T * (p * (1 - p)) @ Z, Z.T @ (y - p))
print(w.round(6))

# %%
# **The same numbers**, with a bound of the distance from the optimum and with standard errors.

model = LogisticRegression(C=float("inf")).fit(X, y)
assert np.allclose(np.r_[model.intercept_, model.coef_[0]], w, atol=1e-6)
errors = np.sqrt(np.diag(np.linalg.inv(Z.T * (p * (1 - p)) @ Z)))
assert np.allclose(np.sort(np.ravel(model.inference().standard_errors)), np.sort(errors), rtol=1e-5)
print(model.certificate_.verdict.value, model.certificate_.distance_bound)

# %%
fig, ax = plt.subplots(figsize=(5.5, 2.6), layout="constrained")
ax.semilogy(np.array(trace) - min(trace) + 1e-14, "o-")
ax.set(xlabel="Newton step", ylabel="above the minimum")
plt.show()

# %%
# Squares and products of columns make the boundary a quadric.

features = QuadraticFeatures("plain").fit(X)
print(features.get_feature_names_out().tolist())

# %%
# **Exercise.** In a table, 2 of 6 rows with x = 0 are of class 1, and 4 of 6 with x = 1. By which
# factor does x multiply the odds?

answer = 4.0
check = LogisticRegression(C=float("inf")).fit(
    [[0]] * 6 + [[1]] * 6, [1] * 2 + [0] * 4 + [1] * 4 + [0] * 2
)
assert abs(np.exp(check.coef_[0, 0]) - answer) < 1e-6, "not yet"
print("right")
