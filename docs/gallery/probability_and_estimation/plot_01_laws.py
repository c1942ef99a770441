"""
Laws with everything that belongs to them
=========================================

Densities, moments, quantiles, intervals, samples, affine maps. How likely is a height of 174 cm?
With the means and variances of two classes the density is 0.05395 in one and 0.01198 in the other.

*Scope: P1.*
"""

import matplotlib.pyplot as plt
import numpy as np

from novum.distributions import Beta, Binomial, Gamma, Normal, StudentT

men, women = Normal(175.33, 52.89), Normal(161.82, 46.89)
print("174 cm:", men.density(174.0).round(5), women.density(174.0).round(5))
print("between 170 and 180:", round(float(men.probability(170, 180)), 4))
print(
    "in meters:",
    men.affine(0.01, 0.0),
    "the tallest tenth from",
    round(float(men.quantile(0.9)), 1),
)
print("Beta(2, 3) has variance ab / ((a+b)^2 (a+b+1)):", Beta(2.0, 3.0).variance, 6 / (25 * 6))

x = np.linspace(0, 6, 300)
fig, axes = plt.subplots(1, 3, figsize=(10, 3), layout="constrained")
for rate in (1.0, 2.0, 4.0):
    axes[0].plot(x, Gamma(3.0, rate).density(x), label=f"Gamma(3, {rate:g})")
k = np.arange(21)
axes[1].bar(k, Binomial(20, 0.3).density(k), label="Binomial(20, 0.3)")
t = np.linspace(-5, 5, 300)
axes[2].plot(t, Normal(0.0, 1.0).density(t), label="normal")
axes[2].plot(t, StudentT(2.0).density(t), label="Student t, 2 degrees")
for ax in axes:
    ax.legend(fontsize=8)
plt.show()
