"""
Classes with an order
=====================

Low, middle and high are neither numbers nor names. One score and thresholds between the classes use
the order and nothing else.

*Scope: W2.*
"""

import matplotlib.pyplot as plt
import numpy as np

from novum.linear import OrdinalRegression

rng = np.random.default_rng(0)
dose = rng.uniform(0, 10, 300)
effect = np.array(["none", "mild", "strong"])[
    np.searchsorted([4.0, 7.0], dose + rng.logistic(0, 0.8, 300))
]
model = OrdinalRegression(classes=["none", "mild", "strong"], alpha=0.0).fit(dose[:, None], effect)
print("thresholds in doses:", (model.thresholds_ / model.coef_[0]).round(2).tolist())

fine = np.linspace(0, 10, 200)
shares = model.predict_proba(fine[:, None])
fig, ax = plt.subplots(figsize=(6, 3), layout="constrained")
ax.stackplot(fine, shares.T, labels=model.classes_, alpha=0.7)
ax.set(xlabel="dose", ylabel="probability")
ax.legend(loc="upper left")
plt.show()
