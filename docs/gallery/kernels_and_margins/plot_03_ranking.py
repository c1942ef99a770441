"""
Learn an order
==============

Only the order within a query counts: scores whose differences put pairs right, with the largest
margin.

*Scope: S5, W2.*
"""

import matplotlib.pyplot as plt
import numpy as np

from novum.evaluation import ndcg, pair_error
from novum.svm import RankingSVM

rng = np.random.default_rng(0)
query = np.repeat(np.arange(20), 8)
X = rng.normal(size=(160, 3))
value = X @ [1.0, -2.0, 0.5] + 0.5 * rng.normal(size=160)
relevance = np.digitize(value, [-1.5, 0.5, 2.0])

model = RankingSVM(C=1.0).fit(X[:80], relevance[:80], groups=query[:80])
scores = model.decision_function(X[80:])
errors = [
    pair_error(relevance[80:][query[80:] == q], scores[query[80:] == q]) for q in range(10, 20)
]
print("direction:", (model.coef_ / np.abs(model.coef_).max()).round(2).tolist())
print("pairs in the wrong order, by query:", np.round(errors, 2).tolist())
print("gain of the first query:", round(ndcg(relevance[80:88], scores[:8]), 3))

fig, ax = plt.subplots(figsize=(6, 3.2), layout="constrained")
ax.scatter(scores, relevance[80:] + 0.08 * rng.normal(size=80), s=12)
ax.set(xlabel="learned score", ylabel="relevance", yticks=range(4))
plt.show()
