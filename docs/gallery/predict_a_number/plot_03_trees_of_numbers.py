"""
Steps, or lines in the leaves
=============================

A regression tree says a mean in every leaf (squared error) or a median (absolute error); a model
tree says a line.

*Scope: T4, T1.*
"""

import matplotlib.pyplot as plt
import numpy as np

from novum.trees import DecisionTreeRegressor, ModelTreeRegressor

rng = np.random.default_rng(1)
x = np.sort(rng.uniform(0, 10, 200))
y = np.where(x < 4, 2 * x, 14 - 1.2 * x) + rng.normal(0, 0.5, 200)
y[::25] += 6

steps = DecisionTreeRegressor(max_leaf_nodes=6).fit(x[:, None], y)
medians = DecisionTreeRegressor(criterion="absolute_error", max_depth=3).fit(x[:, None], y)
lines = ModelTreeRegressor().fit(x[:, None], y)
print(lines.text())

fig, ax = plt.subplots(figsize=(7, 3.4), layout="constrained")
ax.plot(x, y, ".", color="silver")
for name, model in (("means", steps), ("medians", medians), ("lines", lines)):
    ax.plot(x, model.predict(x[:, None]), label=name)
ax.legend()
plt.show()
