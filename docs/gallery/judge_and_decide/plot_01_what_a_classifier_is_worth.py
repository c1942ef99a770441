"""
What a classifier is worth
==========================

The confusion matrix (rows are the truth), the measures made of it with their intervals, and three
curves over all thresholds.

*Scope: D4.*
"""

import matplotlib.pyplot as plt

from novum.data import load
from novum.evaluation import ClassificationReport, curves
from novum.linear import LogisticRegression

table, target = load("german_credit", frame="pandas")
X, y = table.drop(columns=target), table[target]
model = LogisticRegression(C=0.1).fit(X[:700], y[:700])
bad = list(model.classes_).index("bad")
p = model.predict_proba(X[700:])
report = ClassificationReport(y[700:], model.predict(X[700:]))
print(report.confusion)
print("accuracy", report["accuracy"])
print("balanced accuracy", report["balanced_accuracy"])
print("recall of bad", report.per_class["bad"]["recall"])

found = curves((y[700:] == "bad").to_numpy(), p[:, bad], n_resamples=200)
print("area under the ROC curve", found.roc.area)
fig, axes = plt.subplots(1, 3, figsize=(10, 3.2), layout="constrained")
axes[0].plot(found.roc.false_positive_rate, found.roc.true_positive_rate)
axes[0].set(title="ROC", xlabel="false alarms", ylabel="found")
axes[1].plot(found.precision_recall.recall, found.precision_recall.precision)
axes[1].set(title="precision and recall", xlabel="recall", ylabel="precision")
axes[2].plot(found.det.false_positive_rate, found.det.false_negative_rate)
axes[2].set(title="DET", xlabel="false alarms", ylabel="missed", xscale="log", yscale="log")
plt.show()
