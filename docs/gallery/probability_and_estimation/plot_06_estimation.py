"""
HHTTTHH
=======

Seven throws with four heads: the likelihood is largest at 4/7. Sums of two samples are the sums of
both together, so estimates can be made from parts.

*Scope: P5.*
"""

import matplotlib.pyplot as plt
import numpy as np

from novum.distributions import Bernoulli, Beta, Categorical, Gamma

throws = [1, 1, 0, 0, 0, 1, 1]
print("maximum likelihood:", Bernoulli.fit(throws).probability, "=", 4 / 7)
print("as letters:", Categorical.fit(list("HHTTTHH")).probabilities.round(4).tolist())
parts = Bernoulli.statistics(throws[:3]) + Bernoulli.statistics(throws[3:])
print("from two parts:", Bernoulli.from_statistics(parts).probability)
print("method of moments:", Beta.fit_moments([0.25, 0.5, 0.75]))
print("likelihood of waiting times:", Gamma.fit([0.5, 1.0, 2.5]))

p = np.linspace(0.01, 0.99, 300)
fig, ax = plt.subplots(figsize=(6, 3), layout="constrained")
ax.plot(p, p**4 * (1 - p) ** 3)
ax.axvline(4 / 7, color="k", ls=":", label="4/7")
ax.set(xlabel="probability of heads", ylabel="likelihood of HHTTTHH")
ax.legend()
plt.show()
