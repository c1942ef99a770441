"""
Principal components
====================

The directions of largest projected variance, their share, and what is lost by leaving the others
out. With fewer rows than columns the small matrix of inner products gives the same.

*Scope: C5.*
"""

import matplotlib.pyplot as plt
import numpy as np

from novum.data import load
from novum.data.scaling import StandardScaler
from novum.decomposition import PCA, plot_biplot, plot_scree

table, target = load("wine", frame="pandas")
X = StandardScaler().fit_transform(table.drop(columns=target))
model = PCA().fit(X)
two = PCA(2).fit(X)
back = two.inverse_transform(two.transform(X))
print("lost by two components:", ((X.to_numpy() - back) ** 2).sum(axis=1).mean().round(4))
print("sum of the other variances:", (model.explained_variance_[2:].sum() * 177 / 178).round(4))

few = np.random.default_rng(0).normal(size=(10, 500))
print("ten rows of 500 columns:", PCA().fit(few).n_components_, "components")

fig, axes = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
plot_scree(model, ax=axes[0])
plot_biplot(two, X, ax=axes[1])
plt.show()
