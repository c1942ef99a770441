"""
Few columns of many: the lasso
==============================

An L1 penalty sets coefficients to zero. The path shows in which order columns come in; a duality
gap proves each solution.

*Scope: L1, W6.*
"""

import matplotlib.pyplot as plt
import numpy as np

from novum.linear import Lasso, LassoCV

rng = np.random.default_rng(0)
X = rng.normal(size=(80, 30))
y = 3 * X[:, 0] - 2 * X[:, 5] + 1.5 * X[:, 9] + rng.normal(size=80)

alphas = np.logspace(0.5, -2, 40)
path = np.array([Lasso(alpha).fit(X, y).coef_ for alpha in alphas])
chosen = LassoCV(rule="1se").fit(X, y)
print("columns kept:", np.flatnonzero(chosen.coef_).tolist(), "alpha:", round(chosen.alpha_, 3))
print("gap:", Lasso(0.1).fit(X, y).certificate_.relative_gap)

fig, ax = plt.subplots(figsize=(6.5, 3.4), layout="constrained")
ax.semilogx(alphas, path, color="silver")
ax.semilogx(alphas, path[:, [0, 5, 9]], lw=2)
ax.axvline(chosen.alpha_, color="k", ls=":", label="one standard error from the best")
ax.set(xlabel="penalty", ylabel="coefficients")
ax.invert_xaxis()
ax.legend()
plt.show()
