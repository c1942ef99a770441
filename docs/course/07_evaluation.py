r"""
7. Is it good, and is it better?
================================

**The idea.** Errors come in kinds; a table of truth against answer counts them. Folds let every row
be judged by a model that has not seen it, and a test says whether a difference is more than chance.

**The formula.**

.. math:: P = \frac{TP}{TP + FP}, \quad R = \frac{TP}{TP + FN}, \quad
          F_\beta = \frac{(1 + \beta^2) P R}{\beta^2 P + R}, \quad
          \mathrm{Var}[\bar S] = \frac{1}{k (k - 1)} \sum_i (S_i - \bar S)^2 .
"""

import matplotlib.pyplot as plt
import numpy as np

from novum.data import load
from novum.evaluation import (
    confusion_matrix,
    cross_val_score,
    measure,
    paired_t_test,
    roc_curve,
    variance_of_mean,
)
from novum.linear import LogisticRegression
from novum.trees import DecisionTreeClassifier

# %%
# **The definition in ten lines.**

truth = np.array([1, 1, 1, 1, 0, 0, 0, 0, 0, 0])
said = np.array([1, 1, 1, 0, 1, 0, 0, 0, 0, 0])
tp, fp = np.sum((said == 1) & (truth == 1)), np.sum((said == 1) & (truth == 0))
fn, tn = np.sum((said == 0) & (truth == 1)), np.sum((said == 0) & (truth == 0))
precision, recall = tp / (tp + fp), tp / (tp + fn)
f2 = 5 * precision * recall / (4 * precision + recall)
balanced = (recall + tn / (tn + fp)) / 2
print(precision, recall, round(f2, 4), round(balanced, 4))

# %%
# **The same numbers.** Rows of a confusion matrix are the truth.

print(confusion_matrix(truth, said))
assert abs(measure("f_beta", beta=2.0)(truth, said) - f2) < 1e-12
assert abs(measure("balanced_accuracy")(truth, said) - balanced) < 1e-12

# %%
# Two learners on the same folds: a paired test of the differences. (Folds share training rows, so
# that this test is too bold; `novum.evaluation.compare` corrects for it.)

table, target = load("wdbc", frame="pandas")
X, y = table.drop(columns=target), table[target]
line = cross_val_score(LogisticRegression(C=0.01), X, y, cv=10)
tree = cross_val_score(DecisionTreeClassifier(max_depth=3), X, y, cv=10)
difference = np.asarray(line) - np.asarray(tree)
t = difference.mean() / np.sqrt(variance_of_mean(difference))
found = paired_t_test(line, tree)
assert abs(found.statistic - t) < 1e-9
print(found)

# %%
model = LogisticRegression(C=0.01).fit(X[:300], y[:300])
curve = roc_curve((y[300:] == model.classes_[1]).to_numpy(), model.predict_proba(X[300:])[:, 1])
fig, ax = plt.subplots(figsize=(4, 3.4), layout="constrained")
ax.plot(curve.false_positive_rate, curve.true_positive_rate)
ax.set(xlabel="false alarms", ylabel="found", title=f"area {curve.area.estimate:.4f}")
plt.show()

# %%
# **Exercise.** Of 1000 people 10 are ill. A test finds 9 of them and calls 30 healthy ones ill.
# What is its precision, and what its accuracy?

your_precision, your_accuracy = 9 / 39, (9 + 960) / 1000
ill, called = (
    np.repeat([1, 0], [10, 990]),
    np.r_[np.repeat([1, 0], [9, 1]), np.repeat([1, 0], [30, 960])],
)
assert abs(your_precision - measure("precision")(ill, called)) < 1e-12, "not yet"
assert abs(your_accuracy - measure("accuracy")(ill, called)) < 1e-12, "not yet"
print("right")
