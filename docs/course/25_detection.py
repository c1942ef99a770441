r"""
25. Scores, priors and costs
============================

**The idea.** A classifier for one share of targets is used with another, and its errors cost what
they cost. Both act as one number, the effective prior, which moves the threshold of the
log-likelihood ratio.

**The formula.**

.. math:: \tilde\pi = \frac{\pi C_{fn}}{\pi C_{fn} + (1 - \pi) C_{fp}}, \qquad
          \mathrm{DCF} = \pi C_{fn} P_{fn} + (1 - \pi) C_{fp} P_{fp}, \qquad
          t = -\log \frac{\tilde\pi}{1 - \tilde\pi} .
"""

import matplotlib.pyplot as plt
import numpy as np

from novum.bayes import GaussianClassifier
from novum.core import WorkingPoint
from novum.evaluation import (
    bayes_error_curve,
    detection_cost,
    log_likelihood_ratios,
    minimum_detection_cost,
)

# %%
# **The definition in ten lines.**

rng = np.random.default_rng(0)
X = np.r_[rng.normal(0, 1, (600, 2)), rng.normal(1.5, 1.2, (400, 2))]
y = np.repeat([0, 1], [600, 400])
model = GaussianClassifier(covariance="full").fit(X, y)
scores = log_likelihood_ratios(model, X)
prior, cost_fn, cost_fp = 0.1, 10.0, 1.0
effective = prior * cost_fn / (prior * cost_fn + (1 - prior) * cost_fp)


def cost(threshold):
    misses, alarms = np.mean(scores[y == 1] <= threshold), np.mean(scores[y == 0] > threshold)
    worth = prior * cost_fn * misses + (1 - prior) * cost_fp * alarms
    return worth / min(prior * cost_fn, (1 - prior) * cost_fp)


actual = cost(-np.log(effective / (1 - effective)))
least = min(cost(t) for t in np.r_[-np.inf, np.sort(scores)])
print("normalized cost:", round(actual, 4), "at the best threshold:", round(least, 4))

# %%
# **The same numbers.**

point = WorkingPoint.binary(prior=prior, cost_fn=cost_fn, cost_fp=cost_fp)
assert np.isclose(detection_cost(y, scores, point), actual)
assert np.isclose(minimum_detection_cost(y, scores, point).value, least)

# %%
# Posteriors for another prior need no new fit: the ratio stays.

log_odds = scores + np.log(prior / (1 - prior))
used = model.at(point)
assert np.array_equal(used.predict(X) == 1, scores > -np.log(effective / (1 - effective)))
print(
    "called 1:",
    np.mean(used.predict(X) == 1).round(3),
    "before:",
    np.mean(model.predict(X) == 1).round(3),
)

# %%
curve = bayes_error_curve(y, scores)
fig, ax = plt.subplots(figsize=(5.5, 2.8), layout="constrained")
ax.plot(curve.log_odds, curve.actual, label="actual")
ax.plot(curve.log_odds, curve.minimum, "k:", label="minimum")
ax.set(xlabel="log-odds of the effective prior", ylabel="cost")
ax.legend()
plt.show()

# %%
# **Exercise.** One customer in 50 leaves; losing one costs 30 calls. Which effective prior is that?

answer = 0.02 * 30 / (0.02 * 30 + 0.98)
assert (
    abs(answer - WorkingPoint.binary(prior=0.02, cost_fn=30, cost_fp=1).effective_prior) < 1e-12
), "not yet"
print("right:", round(answer, 3))
