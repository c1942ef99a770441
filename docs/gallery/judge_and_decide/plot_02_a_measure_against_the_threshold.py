"""
Any measure against the threshold
=================================

F-beta is :math:`(1+\\beta^2) P R / (\\beta^2 P + R)`: with beta 2 recall counts more, and the best
threshold is lower.

*Scope: D4.*
"""

import matplotlib.pyplot as plt
import numpy as np

from novum.evaluation import measure, threshold_curve

rng = np.random.default_rng(0)
y = (rng.random(1500) < 0.2).astype(int)
scores = 1 / (1 + np.exp(-(rng.normal(size=1500) + 2 * y - 1.8)))

fig, ax = plt.subplots(figsize=(6.5, 3.2), layout="constrained")
for beta in (0.5, 1.0, 2.0):
    curve = threshold_curve(measure("f_beta", beta=beta), y, scores)
    ax.plot(curve.thresholds, curve.values, label=f"F, beta {beta:g}")
    ax.plot(curve.best_threshold, curve.best.estimate, "ko", ms=4)
    print(f"beta {beta:g}: best at {curve.best_threshold:.3f}, {curve.best}")
ax.set(xlabel="threshold", ylabel="measure")
ax.legend()
plt.show()
