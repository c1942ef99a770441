"""
Intervals with a promised coverage
==================================

Whatever the model, conformal intervals hold the truth of new rows as often as promised.

*Scope: D1, W5.*
"""

import matplotlib.pyplot as plt
import numpy as np

from novum.evaluation import ConformalRegressor, coverage_report
from novum.trees import RandomForestRegressor

rng = np.random.default_rng(0)
x = rng.uniform(0, 6, 600)
y = np.sin(x) * x + rng.normal(0, 0.6, 600)
forest = RandomForestRegressor(50, min_samples_leaf=5, random_state=0)
model = ConformalRegressor(forest, coverage=0.9, method="split").fit(x[:300, None], y[:300])
print(coverage_report(model, x[300:, None], y[300:]))

fine = np.linspace(0, 6, 200)
low, high = model.predict_interval(fine[:, None]).T
fig, ax = plt.subplots(figsize=(7, 3.2), layout="constrained")
ax.fill_between(fine, low, high, alpha=0.25, label="90 % promised")
ax.plot(fine, model.predict(fine[:, None]))
ax.plot(x[300:], y[300:], ".", color="gray", ms=3, label="new rows")
ax.legend()
plt.show()
