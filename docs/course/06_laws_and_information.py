r"""
6. Limit theorems and information
=================================

**The idea.** Means settle: how fast, Chebyshev bounds for any law. Surprise adds up: an event of
probability p tells :math:`-\log_2 p` bits.

**The formula.**

.. math:: P(|\bar X_n - \mu| \ge \varepsilon) \le \frac{\sigma^2}{n \varepsilon^2}, \qquad
          H(p) = -\sum_i p_i \log p_i, \qquad D(p \| q) = \sum_i p_i \log \frac{p_i}{q_i} .
"""

import matplotlib.pyplot as plt
import numpy as np

from novum.distributions import (
    Normal,
    chebyshev_bound,
    chebyshev_sample_size,
    cross_entropy,
    entropy,
    huffman_code,
    kl_divergence,
    mutual_information,
)

# %%
# **The definition in ten lines.**


def bits(p):
    p = np.asarray(p, float)
    return -np.sum(p[p > 0] * np.log2(p[p > 0]))


p, q = np.array([0.5, 0.25, 0.125, 0.125]), np.full(4, 0.25)
divergence = np.sum(p * np.log2(p / q))
joint = np.array([[0.4, 0.1], [0.1, 0.4]])
shared = bits(joint.sum(axis=0)) + bits(joint.sum(axis=1)) - bits(joint.ravel())
print(bits(p), divergence, round(shared, 4))

# %%
# **The same numbers.**

assert abs(entropy(p, base=2) - bits(p)) < 1e-12
assert abs(kl_divergence(p, q) / np.log(2) - divergence) < 1e-12
assert abs(mutual_information(joint, base=2) - shared) < 1e-12
assert abs(cross_entropy(p, q, base=2) - bits(p) - divergence) < 1e-12
code = huffman_code(dict(zip("abcd", p, strict=True)))
print("a code that reaches the entropy:", code.words, code.expected_length)

# %%
# A mean of n throws of a coin, Chebyshev's bound, and what a normal law says.

print("throws for an error below 0.1 with risk 0.05:", chebyshev_sample_size(0.25, 0.1, 0.05))
sizes = np.array([10, 30, 100, 300, 1000])
rng = np.random.default_rng(0)
seen = [np.mean(np.abs(rng.binomial(n, 0.5, 20000) / n - 0.5) >= 0.1) for n in sizes]
bound = [min(1.0, chebyshev_bound(0.25, 0.1, n)) for n in sizes]
normal = [2 * float(Normal(0.0, 0.25 / n).cdf(-0.1)) for n in sizes]
fig, ax = plt.subplots(figsize=(5.5, 2.8), layout="constrained")
ax.loglog(sizes, np.maximum(seen, 1e-5), "o", label="simulated")
ax.loglog(sizes, bound, label="Chebyshev")
ax.loglog(sizes, np.maximum(normal, 1e-5), "--", label="normal")
ax.set(xlabel="throws", ylabel="P(error of 0.1 or more)")
ax.legend()
plt.show()

# %%
# **Exercise.** How many bits does one learn from a die that shows an even number?

answer = 1.0
assert abs(answer - (bits(np.full(6, 1 / 6)) - bits(np.full(3, 1 / 3)))) < 1e-12, "not yet"
print("right")
