"""
Detection cost over all working points
======================================

Priors and costs act as one number, the effective prior. What a model loses to the best threshold is
a lack of calibration, and can be mended.

*Scope: D5.*
"""

import matplotlib.pyplot as plt
import numpy as np

from novum.bayes import GaussianNB
from novum.core import WorkingPoint
from novum.evaluation import (
    CalibratedClassifierCV,
    bayes_error_curve,
    detection_cost,
    log_likelihood_ratios,
    minimum_detection_cost,
)

rng = np.random.default_rng(0)
y = np.where(rng.random(3000) < 0.3, 1, 0)
X = rng.normal(size=(3000, 3)) + 0.8 * y[:, None]
X = np.hstack([X, X[:, :1], X[:, :1]])
plain = GaussianNB().fit(X[:1500], y[:1500])
mended = CalibratedClassifierCV(GaussianNB(), method="sigmoid").fit(X[:1500], y[:1500])

point = WorkingPoint.binary(prior=0.05, cost_fn=10, cost_fp=1)
scores = log_likelihood_ratios(plain, X[1500:])
print("cost at the point:", round(detection_cost(y[1500:], scores, point), 4))
print("at the best threshold:", round(minimum_detection_cost(y[1500:], scores, point).value, 4))

fig, ax = plt.subplots(figsize=(6.5, 3.6), layout="constrained")
for name, model, color in (("as fitted", plain, "C3"), ("calibrated", mended, "C0")):
    curve = bayes_error_curve(y[1500:], log_likelihood_ratios(model, X[1500:]))
    ax.plot(curve.log_odds, curve.actual, color=color, label=name)
ax.plot(curve.log_odds, curve.minimum, "k:", label="best threshold")
ax.set(xlabel="log-odds of the effective prior", ylabel="normalized detection cost", ylim=(0, 1.2))
ax.legend()
plt.show()
