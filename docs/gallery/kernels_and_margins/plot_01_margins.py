"""
The largest margin
==================

Of all lines between two classes one is farthest from both. A price of slack lets rows stand inside;
an infinite price allows none.

*Scope: S1.*
"""

import matplotlib.pyplot as plt
import numpy as np

from novum.svm import SVC

rng = np.random.default_rng(4)
X = np.r_[rng.normal([0, 0], 0.6, (30, 2)), rng.normal([2.4, 2.0], 0.6, (30, 2))]
y = np.repeat([-1, 1], 30)
x, z = np.meshgrid(np.linspace(-2, 4.5, 150), np.linspace(-2, 4, 150))
grid = np.column_stack([x.ravel(), z.ravel()])
fig, axes = plt.subplots(1, 3, figsize=(10, 3.2), layout="constrained")
for ax, C in zip(axes, (0.02, 1.0, float("inf")), strict=True):
    model = SVC(kernel="linear", C=C).fit(X, y)
    proof = model.certificate_
    print(
        f"C={C:g}: margin {model.margin_:.3f}, {len(model.bound_)} bound and "
        f"{len(model.unbound_)} unbound support vectors, gap {proof.relative_gap:.1e}"
    )
    values = model.decision_function(grid).reshape(x.shape)
    ax.contour(x, z, values, [-1, 0, 1], colors="k", linestyles=[":", "-", ":"])
    ax.scatter(*X.T, c=y, s=10, cmap="coolwarm")
    ax.scatter(*X[model.support_].T, s=50, facecolors="none", edgecolors="k")
    ax.set(title=f"C = {C:g}", xticks=[], yticks=[])
plt.show()

# %%
# Rows that are no support vectors can go; the machine stays the same.

model = SVC(kernel="linear", C=1.0, tol=1e-8).fit(X, y)
again = SVC(kernel="linear", C=1.0, tol=1e-8).fit(X[model.support_], y[model.support_])
print("change of the weights:", np.abs(model.coef_ - again.coef_).max())
