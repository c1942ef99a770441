"""
Logistic regression, with and without curves
============================================

The log-odds are a line in the columns, or a quadric when squares and products are added. The fit
ends with a proof of how far from the optimum it is at most.

*Scope: L3.*
"""

import matplotlib.pyplot as plt
import numpy as np

from novum.core import Pipeline
from novum.data import TwoMoons
from novum.linear import LogisticRegression, QuadraticFeatures

sample = TwoMoons(noise=0.25).sample(400, random_state=0)
plain = LogisticRegression().fit(sample.X, sample.y)
curved = Pipeline([("squares", QuadraticFeatures("plain")), ("fit", LogisticRegression())])
curved.fit(sample.X, sample.y)
print(plain.certificate_.verdict.value, "within", plain.certificate_.distance_bound)

x, y = np.meshgrid(np.linspace(-2, 3, 200), np.linspace(-1.5, 2, 200))
grid = np.column_stack([x.ravel(), y.ravel()])
fig, axes = plt.subplots(1, 2, figsize=(8, 3.2), layout="constrained")
for ax, model, title in zip(axes, (plain, curved), ("linear", "quadratic"), strict=True):
    p = model.predict_proba(grid)[:, 1].reshape(x.shape)
    ax.contourf(x, y, p, levels=11, cmap="coolwarm", alpha=0.6)
    ax.scatter(*sample.X.T, c=sample.y, s=5, cmap="coolwarm")
    ax.set(title=f"{title}: {model.score(sample.X, sample.y):.3f}", xticks=[], yticks=[])
plt.show()
