"""
A forest and the rows it did not see
====================================

A bootstrap sample of N rows misses a given one with probability :math:`(1 - 1/N)^N`, about 0.37. So
every tree has rows to be judged on, for nothing.

*Scope: T6.*
"""

import matplotlib.pyplot as plt
import numpy as np

from novum.data import load
from novum.trees import RandomForestClassifier

print("missed by a sample of 100:", round((1 - 1 / 100) ** 100, 4), "limit:", round(np.exp(-1), 4))

table, target = load("wdbc", frame="pandas")
X, y = table.drop(columns=target), table[target]
sizes = [25, 50, 100, 200, 400]
scores = []
for size in sizes:
    forest = RandomForestClassifier(size, oob_score=True, random_state=0).fit(X, y)
    scores.append(1 - forest.oob_score_)
print("out-of-bag errors:", np.round(scores, 3).tolist())

fig, ax = plt.subplots(figsize=(6, 3), layout="constrained")
ax.plot(sizes, scores, "o-")
ax.set(xlabel="trees", ylabel="out-of-bag error")
plt.show()
