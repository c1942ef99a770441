r"""
23. Mixtures and EM
===================

**The idea.** If one knew who made each row, estimation would be easy; if one knew the laws, so
would be guessing who made it. Do both in turn. The likelihood never falls.

**The formula.**

.. math:: r_{ik} = \frac{\pi_k N(x_i; \mu_k, \Sigma_k)}{\sum_l \pi_l N(x_i; \mu_l, \Sigma_l)},
          \qquad \mu_k = \frac{\sum_i r_{ik} x_i}{\sum_i r_{ik}}, \quad
          \pi_k = \frac1n \sum_i r_{ik} .
"""

import matplotlib.pyplot as plt
import numpy as np

from novum.distributions import Normal
from novum.mixture import GaussianMixture

# %%
# **The definition in ten lines.** Two normals on a line.

rng = np.random.default_rng(0)
x = np.r_[rng.normal(0, 1, 150), rng.normal(5, 1.5, 100)]
share, mean, variance, trace = np.array([0.5, 0.5]), np.array([0.0, 4.0]), np.ones(2), []
for _ in range(300):
    density = (
        share * np.exp(-((x[:, None] - mean) ** 2) / (2 * variance)) / np.sqrt(2 * np.pi * variance)
    )
    trace.append(np.log(density.sum(axis=1)).sum())
    r = density / density.sum(axis=1, keepdims=True)
    share, mean = r.mean(axis=0), (r.T @ x) / r.sum(axis=0)
    variance = (r * (x[:, None] - mean) ** 2).sum(axis=0) / r.sum(axis=0)
print(share.round(4), mean.round(4), variance.round(4))
assert np.all(np.diff(trace) > -1e-9)

# %%
# **The same numbers.**

model = GaussianMixture(2, random_state=0, tol=1e-10).fit(x[:, None])
order = np.argsort(model.means_[:, 0])
assert np.allclose(model.means_[order, 0], mean, atol=1e-3)
assert np.allclose(model.weights_[order], share, atol=1e-3)
assert np.isclose(model.score(x[:, None]) * 250, trace[-1], atol=1e-3)
print(model.certificate_.verdict.value)

# %%
fig, (left, right) = plt.subplots(1, 2, figsize=(8, 2.8), layout="constrained")
left.plot(trace[:40])
left.set(xlabel="iteration", ylabel="log-likelihood")
t = np.linspace(-4, 10, 300)
right.hist(x, 30, density=True, alpha=0.4)
for k in range(2):
    right.plot(t, share[k] * Normal(mean[k], variance[k]).density(t))
plt.show()

# %%
# **Exercise.** Equal shares, means 0 and 4, variances 1. To which component does x = 2.5 belong,
# with what probability?

answer = 1 / (1 + np.exp(-(4 * 2.5 - 8)))
p = Normal(4.0, 1.0).density(2.5) / (Normal(4.0, 1.0).density(2.5) + Normal(0.0, 1.0).density(2.5))
assert abs(answer - p) < 1e-12, "not yet"
print("right:", round(float(p), 4))
