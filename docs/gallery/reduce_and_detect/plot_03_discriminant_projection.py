"""
A projection that keeps classes apart
=====================================

Principal components look for variance, discriminant directions for variance between classes over
that within them.

*Scope: C6.*
"""

import matplotlib.pyplot as plt

from novum.data import load
from novum.decomposition import PCA, DiscriminantProjection, plot_projection

table, target = load("wine", frame="pandas")
X, y = table.drop(columns=target), table[target]
fisher = DiscriminantProjection().fit(X, y)
print("between over within:", fisher.eigenvalues_.round(2).tolist())

fig, axes = plt.subplots(1, 2, figsize=(9.5, 3.6), layout="constrained")
plot_projection(PCA(2).fit(X), X, y, ax=axes[0])
plot_projection(fisher, X, y, ax=axes[1])
axes[0].set_title("principal components")
axes[1].set_title("discriminant directions")
plt.show()
