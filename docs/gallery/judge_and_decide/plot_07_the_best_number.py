"""
The best number depends on the loss
===================================

For squared errors it is the mean, for absolute ones the median, and where shortage costs nine times
surplus the 0.9 quantile.

*Scope: D1.*
"""

import matplotlib.pyplot as plt
import numpy as np

from novum.evaluation import PinballLoss, bayes_output, expected_loss

demand = np.random.default_rng(0).gamma(2.0, 10.0, 4000)
outputs = np.linspace(0, 80, 200)
losses = {"squared": "squared", "absolute": "absolute", "shortage costs 9": PinballLoss(0.9)}
fig, ax = plt.subplots(figsize=(6.5, 3.2), layout="constrained")
for name, loss in losses.items():
    risk = np.array([expected_loss(demand, output, loss) for output in outputs])
    best = bayes_output(demand, loss)
    print(f"{name}: {best:.2f}")
    ax.plot(outputs, risk / risk.min(), label=name)
    ax.plot(best, 1, "ko", ms=4)
ax.set(ylim=(0.9, 3), xlabel="order", ylabel="expected loss over the least")
ax.legend()
plt.show()
print(
    "mean, median, 0.9 quantile:", demand.mean().round(2), np.quantile(demand, [0.5, 0.9]).round(2)
)
