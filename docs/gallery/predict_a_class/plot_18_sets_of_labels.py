"""
Several labels at once
======================

A document may be about art and law. Targets are sets; chains let one label help the next.

*Scope: W2.*
"""

import matplotlib.pyplot as plt
import numpy as np

from novum.bayes import GaussianNB
from novum.ensemble import ClassifierChain, OneVsRestClassifier
from novum.evaluation import label_set_measures

rng = np.random.default_rng(0)
X = rng.normal(size=(400, 2))
topics = [
    {name for name, on in (("art", a > 0), ("law", b > 0.3), ("tax", b > 0.3 and a < 0.5)) if on}
    for a, b in X + 0.3 * rng.normal(size=X.shape)
]
names = ["art", "law", "tax"]


def matrix(sets):
    return np.array([[name in each for name in names] for each in sets], int)


found = {}
for title, way in (("one by one", OneVsRestClassifier), ("in a chain", ClassifierChain)):
    predicted = way(GaussianNB()).fit(X[:300], topics[:300]).predict(X[300:])
    found[title] = label_set_measures(matrix(topics[300:]), matrix(predicted))
    print(title, {k: round(v.estimate, 3) for k, v in found[title].items()})

fig, ax = plt.subplots(figsize=(6, 2.8), layout="constrained")
measures = ["hamming_loss", "f1_micro", "exact_match"]
for i, (title, values) in enumerate(found.items()):
    ax.bar(np.arange(3) + 0.4 * i, [values[m].estimate for m in measures], 0.38, label=title)
ax.set_xticks(np.arange(3) + 0.2, measures)
ax.legend()
plt.show()
