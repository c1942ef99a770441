"""
Naive Bayes on mixed columns
============================

One law for each column, chosen by its kind; a missing cell says nothing. Three heads in a row: the
maximum of the likelihood says 1, one pseudo-count for each side says 4/5.

*Scope: G2, P5.*
"""

import matplotlib.pyplot as plt
import numpy as np

from novum.bayes import BernoulliNB, NaiveBayes
from novum.data import load

smooth = BernoulliNB(alpha=1.0).fit([[1], [1], [1]], ["coin"] * 3)
print("three heads, add-one:", np.exp(smooth.feature_log_prob_).round(6).item())

table, target = load("titanic", frame="pandas")
X, y = table.drop(columns=target), table[target]
model = NaiveBayes().fit(X, y)
why = model.explain(X[:1])
print(why)

# %%
# Every cell moves the log-odds by itself: that is the log-linear form of naive Bayes.

fig, ax = plt.subplots(figsize=(6, 2.6), layout="constrained")
names = [f"{c} = {v}" for c, v in zip(why.columns, why.values, strict=True)]
ax.barh(names, why.contributions, color=np.where(np.array(why.contributions) > 0, "C0", "C3"))
ax.axvline(0, color="k", lw=0.8)
ax.set_xlabel(f"log-odds of {why.label!r} against {why.against!r}")
plt.show()
