r"""
21. Ensembles
=============

**The idea.** Many learners err less than one: averages of resampled trees vary less, and learners
that look at what the last one got wrong add up to a strong one.

**The formula.** AdaBoost with weighted error :math:`e_t` gives the learner the vote

.. math:: \alpha_t = \tfrac12 \ln \frac{1 - e_t}{e_t}, \qquad w_i \leftarrow w_i\, e^{-\alpha_t y_i
          h_t(x_i)} \quad (\text{normalized}).

A bootstrap sample misses a row with probability :math:`(1 - 1/N)^N \to e^{-1}`.
"""

import matplotlib.pyplot as plt
import numpy as np

from novum.data import TwoMoons
from novum.ensemble import AdaBoostClassifier
from novum.trees import RandomForestClassifier

# %%
# **The definition in ten lines.** Stumps on a line, and the weights.

x, y = np.array([1.0, 2.0, 3.0, 4.0, 5.0]), np.array([1, 1, -1, -1, 1])
weight, errors = np.full(5, 0.2), []
for _ in range(3):
    stumps = [
        (side * np.where(x <= t, 1, -1)) for t in (0.5, 1.5, 2.5, 3.5, 4.5) for side in (1, -1)
    ]
    losses = [weight @ (h != y) for h in stumps]
    h = stumps[int(np.argmin(losses))]
    errors.append(min(losses))
    vote = np.log((1 - errors[-1]) / errors[-1]) / 2
    weight = weight * np.exp(-vote * y * h)
    weight /= weight.sum()
print(np.round(errors, 4))

# %%
# **The same numbers.**

model = AdaBoostClassifier(n_estimators=3).fit(x[:, None], y)
assert np.allclose(model.estimator_errors_, errors)
assert np.array_equal(model.predict(x[:, None]), y)

# %%
# What is out of the bag: a third of the rows, for every tree.

rng = np.random.default_rng(0)
missed = np.mean([len(set(range(200)) - set(rng.integers(0, 200, 200))) / 200 for _ in range(2000)])
print("simulated", round(missed, 4), "formula", round((1 - 1 / 200) ** 200, 4))

# %%
law = TwoMoons(noise=0.3)
train, test = law.sample(300, random_state=0), law.sample(3000, random_state=1)
sizes = [25, 50, 100, 200]
scores = []
for size in sizes:
    forest = RandomForestClassifier(size, oob_score=True, random_state=0).fit(train.X, train.y)
    scores.append((forest.oob_score_, forest.score(test.X, test.y)))
fig, ax = plt.subplots(figsize=(5.5, 2.6), layout="constrained")
ax.plot(sizes, scores, "o-", label=["out of bag", "new rows"])
ax.set(xlabel="trees", ylabel="accuracy")
ax.legend()
plt.show()

# %%
# **Exercise.** 101 independent classifiers are right with probability 0.6 each. How often is their
# majority right? (The answer needs the binomial law.)

from novum.distributions import Binomial  # noqa: E402

answer = float(Binomial(101, 0.6).interval_probability(51, 101))
assert abs(answer - np.mean(rng.binomial(101, 0.6, 200000) > 50)) < 0.003, "not yet"
print("right:", round(answer, 3))
