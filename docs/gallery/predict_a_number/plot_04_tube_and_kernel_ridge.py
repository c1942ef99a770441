"""
A tube around the function
==========================

Support vector regression ignores errors below epsilon, so that few rows carry the curve. Kernel
ridge uses all of them, with leave-one-out for nothing.

*Scope: S3, L1.*
"""

import matplotlib.pyplot as plt
import numpy as np

from novum.svm import SVR, KernelRidgeCV

rng = np.random.default_rng(0)
x = np.sort(rng.uniform(0, 6, 80))
y = np.sin(x) + rng.normal(0, 0.15, 80)
tube = SVR(C=10.0, epsilon=0.2).fit(x[:, None], y)
ridge = KernelRidgeCV(kernel="rbf", gamma=0.5).fit(x[:, None], y)
print(len(tube.support_), "of 80 rows are support vectors; gap", tube.certificate_.relative_gap)
print("strength chosen by leave-one-out:", ridge.alpha_)

fine = np.linspace(0, 6, 300)
center = tube.predict(fine[:, None])
fig, ax = plt.subplots(figsize=(7, 3.4), layout="constrained")
ax.fill_between(fine, center - 0.2, center + 0.2, alpha=0.2, label="tube")
ax.plot(fine, center, label="support vectors")
ax.plot(fine, ridge.predict(fine[:, None]), "--", label="kernel ridge")
ax.plot(x, y, ".", color="gray")
ax.plot(x[tube.support_], y[tube.support_], "o", mfc="none", color="k", ms=7)
ax.legend()
plt.show()
