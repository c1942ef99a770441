"""
Beliefs that learn
==================

A conjugate prior stays in its family: counts are added. Three heads: the maximum of the likelihood
says 1, the mean of the posterior 4/5. The mode and the mean of a posterior are different answers.

*Scope: P6.*
"""

import matplotlib.pyplot as plt
import numpy as np

from novum.distributions import (
    Bernoulli,
    Beta,
    KnownVariance,
    Normal,
    NormalGamma,
    credible_interval,
    map_estimate,
    mean_estimate,
    posterior,
    predictive,
)

after = posterior(Beta(1, 1), Bernoulli, [1, 1, 1])
print(after, "mean", mean_estimate(after), "mode", map_estimate(after))
print(
    "the next throw:",
    predictive(after, Bernoulli),
    "half of the belief:",
    credible_interval(after, 0.5),
)
print("known variance:", posterior(Normal(0.0, 1.0), KnownVariance(2.0), [1.0, 3.0]))
print("unknown variance:", predictive(NormalGamma(0.0, 1.0, 2.0, 1.0), Normal))

rng = np.random.default_rng(0)
throws = (rng.random(200) < 0.7).astype(int)
p = np.linspace(0, 1, 400)
fig, ax = plt.subplots(figsize=(6, 3.2), layout="constrained")
for n in (0, 3, 20, 200):
    ax.plot(p, posterior(Beta(2, 2), Bernoulli, throws[:n]).density(p), label=f"after {n}")
ax.axvline(0.7, color="k", ls=":")
ax.set(xlabel="probability of heads", ylabel="belief")
ax.legend()
plt.show()
