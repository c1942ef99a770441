"""
Six ways to scale columns
=========================

Distances and kernels see units. Each scaling answers another worry: different units, outliers,
columns that go together, rows of different length.

*Scope: W4.*
"""

import matplotlib.pyplot as plt
import numpy as np

from novum.data.scaling import (
    CenterThenUnitLength,
    Gaussianizer,
    MinMaxScaler,
    StandardScaler,
    Whitener,
)

rng = np.random.default_rng(1)
x = rng.gamma(2.0, 1.0, 300)
X = np.column_stack([x, 3 * x + rng.normal(0, 2, 300)])

ways = {
    "as it is": None,
    "min-max": MinMaxScaler(),
    "standardized": StandardScaler(),
    "whitened": Whitener(),
    "Gaussianized": Gaussianizer(),
    "centered, unit length": CenterThenUnitLength(),
}
fig, axes = plt.subplots(2, 3, figsize=(8, 5), layout="constrained")
for ax, (name, way) in zip(axes.ravel(), ways.items(), strict=True):
    ax.scatter(*(X if way is None else way.fit_transform(X)).T, s=4)
    ax.set_title(name, fontsize=10)
plt.show()

# %%
# The definitions hold to rounding.

Z = Whitener().fit_transform(X)
print("whitened covariance:", np.cov(Z.T, bias=True).round(12).tolist())
print("range:", MinMaxScaler().fit_transform(X).min(), MinMaxScaler().fit_transform(X).max())
