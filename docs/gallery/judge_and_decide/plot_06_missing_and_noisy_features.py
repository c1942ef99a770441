"""
A feature that is missing, or noisy
===================================

Bayes decides with what is known: a missing column is integrated out, and a noisy measurement makes
every class wider by the noise.

*Scope: D3.*
"""

import matplotlib.pyplot as plt
import numpy as np

from novum.bayes import GaussianClassifier

rng = np.random.default_rng(0)
X = np.r_[rng.normal([0, 0], [1, 0.4], (200, 2)), rng.normal([2, 1.2], [1, 0.4], (200, 2))]
y = np.repeat([0, 1], 200)
model = GaussianClassifier(covariance="full").fit(X, y)

x = np.linspace(-4, 6, 300)
alone = model.predict_proba(np.column_stack([x, np.full(300, np.nan)]))[:, 1]
marginal = GaussianClassifier(covariance="full").fit(X[:, :1], y).predict_proba(x[:, None])[:, 1]
print("integrated out equals the model of one column:", np.abs(alone - marginal).max())

known = model.predict_proba(np.column_stack([x, np.full(300, 0.3)]))[:, 1]
fig, ax = plt.subplots(figsize=(6.5, 3.2), layout="constrained")
ax.plot(x, known, label="second column is 0.3")
for deviation in (0.3, 1.0):
    noise = [0.0, deviation**2]
    noisy = model.predict_proba(np.column_stack([x, np.full(300, 0.3)]), noise=noise)[:, 1]
    ax.plot(x, noisy, "--", label=f"0.3 measured with error {deviation:g}")
ax.plot(x, alone, "k:", label="second column is missing")
ax.set(xlabel="first column", ylabel="P(class 1)")
ax.legend()
plt.show()
