r"""
9. Estimation
=============

**The idea.** Parameters that make the data most probable, or, with a belief before the data, the
belief after them. A conjugate prior turns Bayes' rule into an addition of counts.

**The formula.**

.. math:: \hat\theta = \arg\max_\theta \prod_i p(x_i \mid \theta), \qquad
          \mathrm{Beta}(a, b) \to \mathrm{Beta}(a + n_1, b + n_0), \qquad
          P(\text{next} = 1) = \frac{a + n_1}{a + b + n} .
"""

import matplotlib.pyplot as plt
import numpy as np

from novum.distributions import (
    Bernoulli,
    Beta,
    KnownVariance,
    Normal,
    map_estimate,
    mean_estimate,
    posterior,
    predictive,
)

# %%
# **The definition in ten lines.** HHTTTHH, on a grid of all probabilities.

throws = np.array([1, 1, 0, 0, 0, 1, 1])
p = np.linspace(0.0005, 0.9995, 1000)
likelihood = p ** throws.sum() * (1 - p) ** (len(throws) - throws.sum())
prior = p * (1 - p)
belief = prior * likelihood / np.sum(prior * likelihood)
print("maximum:", p[likelihood.argmax()].round(3), "mean of the belief:", (p @ belief).round(4))

# %%
# **The same numbers.**

assert Bernoulli.fit(throws).probability == 4 / 7
after = posterior(Beta(2, 2), Bernoulli, throws)
print(after, "mean", mean_estimate(after), "mode", map_estimate(after))
assert abs(mean_estimate(after) - p @ belief) < 1e-5
assert abs(map_estimate(after) - p[belief.argmax()]) < 1e-3

# %%
# Three heads: the maximum of the likelihood is sure, one pseudo-count on each side is not.

three = posterior(Beta(1, 1), Bernoulli, [1, 1, 1])
print(Bernoulli.fit([1, 1, 1]).probability, predictive(three, Bernoulli).probability)

# %%
# The mean of normal numbers of known variance: precisions add.

data = np.array([1.0, 3.0])
found = posterior(Normal(0.0, 1.0), KnownVariance(2.0), data)
precision = 1 / 1.0 + len(data) / 2.0
by_hand = (0.0 / 1.0 + data.sum() / 2.0) / precision
assert np.allclose([found.mean, found.variance], [by_hand, 1 / precision])

fig, ax = plt.subplots(figsize=(5.5, 2.8), layout="constrained")
ax.plot(p, Beta(2, 2).density(p), ":", label="before")
ax.plot(p, after.density(p), label="after HHTTTHH")
ax.axvline(4 / 7, color="k", lw=0.8)
ax.legend()
plt.show()

# %%
# **Exercise.** You have seen no throw and believe Beta(1, 1). After how many heads in a row do you
# give the next one a probability of 0.99?

answer = 98
chance = predictive(posterior(Beta(1, 1), Bernoulli, [1] * answer), Bernoulli).probability
before = predictive(posterior(Beta(1, 1), Bernoulli, [1] * (answer - 1)), Bernoulli).probability
assert chance >= 0.99 > before, "not yet"
print("right")
