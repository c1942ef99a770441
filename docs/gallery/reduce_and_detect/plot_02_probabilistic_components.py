"""
Components as a law, with holes in the table
============================================

Probabilistic PCA is a normal law of low rank. So a row with missing cells still has coordinates,
and an uncertainty; EM and the closed form agree.

*Scope: C5.*
"""

import matplotlib.pyplot as plt
import numpy as np

from novum.decomposition import ProbabilisticPCA

rng = np.random.default_rng(0)
z = rng.normal(size=(200, 1))
X = z @ [[2.0, 1.0, -1.0]] + 0.3 * rng.normal(size=(200, 3))
closed = ProbabilisticPCA(1).fit(X)
print("noise variance:", round(closed.noise_variance_, 4))

holes = X.copy()
holes[rng.random(X.shape) < 0.3] = np.nan
em = ProbabilisticPCA(1).fit(holes)
print("with 30 % of the cells missing:", round(em.noise_variance_, 4))

found = em.posterior(holes)
fig, ax = plt.subplots(figsize=(6, 3.4), layout="constrained")
sign = np.sign(np.corrcoef(found.mean[:, 0], z[:, 0])[0, 1])
ax.scatter(z[:, 0], sign * found.mean[:, 0], c=np.isnan(holes).sum(axis=1), s=10)
ax.plot([-3, 3], [-3, 3], "k:", lw=1)
ax.set(xlabel="true coordinate", ylabel="posterior mean", title="color: missing cells of the row")
plt.show()
