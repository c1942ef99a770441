"""
Is it really better?
====================

Scores of folds depend on each other. The corrected test allows for it; a difference comes with its
interval and with the probability that it matters.

*Scope: D6.*
"""

import matplotlib.pyplot as plt
import numpy as np

from novum.bayes import GaussianNB
from novum.data import load
from novum.evaluation import compare, one_sample_t_test, variance_of_mean
from novum.linear import LogisticRegression
from novum.trees import DecisionTreeClassifier

table, target = load("wdbc", frame="pandas")
X, y = table.drop(columns=target), table[target]
models = {
    "logistic": LogisticRegression(C=0.01),
    "naive Bayes": GaussianNB(),
    "tree": DecisionTreeClassifier(max_depth=4),
}
found = compare(models, X, y, cv="3x5", scoring="accuracy")
print(found.verdict)
pair = found.pair("logistic", "tree")
print(pair.corrected)

# %%
# The variance of a mean of k fold scores is :math:`\sum (S_i - \bar S)^2 / (k (k - 1))`.

scores = np.array([0.91, 0.94, 0.92, 0.95, 0.93])
print(variance_of_mean(scores), ((scores - scores.mean()) ** 2).sum() / 20)
print(one_sample_t_test(scores, mean=0.9, alternative="greater"))

fig, ax = plt.subplots(figsize=(7, 3), layout="constrained")
found.plot(ax=ax)
plt.show()
