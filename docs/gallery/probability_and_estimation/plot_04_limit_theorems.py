"""
How large a sample?
===================

Chebyshev bounds the error of a mean for any law, Hoeffding for bounded ones more tightly; means of
many draws become normal.

*Scope: P3.*
"""

import matplotlib.pyplot as plt
import numpy as np

from novum.distributions import (
    Bernoulli,
    Gamma,
    Normal,
    chebyshev_sample_size,
    hoeffding_sample_size,
    law_of_large_numbers,
    standardized_means,
)

print("share of a coin within 0.1, risk 0.05:", chebyshev_sample_size(0.25, 0.1, 0.05), "throws by")
print("Chebyshev and", hoeffding_sample_size(0.0, 1.0, 0.1, 0.05), "by Hoeffding")
found = law_of_large_numbers(Bernoulli(0.5), 0.1, random_state=0)
print("share of means outside:", np.round(found.share_outside, 3).tolist())

x = np.linspace(-4, 4, 200)
fig, axes = plt.subplots(1, 3, figsize=(10, 2.8), sharey=True, layout="constrained")
for ax, n in zip(axes, (1, 5, 50), strict=True):
    ax.hist(standardized_means(Gamma(1.0, 1.0), n, 4000, random_state=0), 60, (-4, 4), density=True)
    ax.plot(x, Normal(0.0, 1.0).density(x), "k")
    ax.set_title(f"means of {n}")
plt.show()
