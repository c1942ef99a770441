r"""
8. Bayes decisions
==================

**The idea.** Know the probability of every truth, and the cost of every action under it: take the
action of least expected cost. Nothing does better on average.

**The formula.**

.. math:: R(a \mid x) = \sum_k C(k, a) P(k \mid x), \qquad a^*(x) = \arg\min_a R(a \mid x),

and for normal classes the discriminant functions are quadratic, linear where covariances are equal.
"""

import matplotlib.pyplot as plt
import numpy as np

from novum.bayes import GaussianClassifier, bayes_error
from novum.core import WorkingPoint
from novum.distributions import Normal
from novum.evaluation import bayes_actions, conditional_risk

# %%
# **The definition in ten lines.** Two normal classes, a cost for every error, and a price of
# asking.

prior, means = np.array([0.7, 0.3]), np.array([0.0, 2.0])
costs = np.array([[0.0, 1.0, 0.3], [5.0, 0.0, 0.3]])
x = np.linspace(-4, 6, 1001)
likelihood = np.array([np.exp(-((x - m) ** 2) / 2) / np.sqrt(2 * np.pi) for m in means])
posterior = prior[:, None] * likelihood / (prior @ likelihood)
risk = costs.T @ posterior
best = risk.argmin(axis=0)
print("risk of the rule:", round(np.trapezoid(risk.min(axis=0) * (prior @ likelihood), x), 4))

# %%
# **The same numbers.**

assert np.allclose(Normal(2.0, 1.0).density(x), likelihood[1])
assert np.allclose(conditional_risk(posterior.T, costs), risk.T)
point = WorkingPoint([0, 1], prior, costs[:, :2], reject_cost=0.3)
actions = bayes_actions(posterior.T, point)
assert np.array_equal(np.array([0, 1, "reject"], object)[best].astype(str), actions.astype(str))

fig, ax = plt.subplots(figsize=(6, 3), layout="constrained")
ax.plot(x, risk.T, label=["say 0", "say 1", "ask"])
ax.fill_between(x, 0, risk.min(axis=0), alpha=0.2)
ax.set(ylim=(0, 1), xlabel="x", ylabel="expected cost")
ax.legend()
plt.show()

# %%
# With equal costs and equal variances the boundary of two classes is where the posteriors meet:
# halfway, shifted by the log-ratio of the priors.

rng = np.random.default_rng(0)
X = np.r_[rng.normal(0, 1, 7000), rng.normal(2, 1, 3000)][:, None]
model = GaussianClassifier(covariance="tied").fit(X, np.repeat([0, 1], [7000, 3000]))
plane = model.hyperplane(0, 1)
boundary = -plane.offset / plane.normal[0]
print("learned:", round(float(boundary), 3), "formula:", round(1 + np.log(0.7 / 0.3) / 2, 3))

# %%
# **Exercise.** Equal priors, unit variances, means 0 and 2, equal costs. How often is the best rule
# wrong?

answer = float(Normal(0.0, 1.0).cdf(-1.0))
assert abs(answer - bayes_error([[0.0], [2.0]], [[1.0]]).value) < 1e-9, "not yet"
print("right:", round(answer, 4))
