"""
Bagging, voting, stacking
=========================

Three ways to combine learners: the same one on resampled rows, several by vote or mean probability,
several whose predictions a further learner weighs.

*Scope: T7.*
"""

import matplotlib.pyplot as plt

from novum.bayes import GaussianNB
from novum.data import TwoMoons
from novum.ensemble import BaggingClassifier, StackingClassifier, VotingClassifier
from novum.linear import LogisticRegression
from novum.trees import DecisionTreeClassifier

law = TwoMoons(noise=0.3)
train, test = law.sample(300, random_state=0), law.sample(4000, random_state=1)
members = [
    ("tree", DecisionTreeClassifier(max_depth=5)),
    ("bayes", GaussianNB()),
    ("line", LogisticRegression()),
]
models = dict(members) | {
    "bagged trees": BaggingClassifier(DecisionTreeClassifier(), 50, random_state=0),
    "majority": VotingClassifier(members),
    "mean probability": VotingClassifier(members, voting="soft"),
    "stacked": StackingClassifier(members),
}
scores = {name: model.fit(train.X, train.y).score(test.X, test.y) for name, model in models.items()}
print({name: round(score, 3) for name, score in scores.items()})

fig, ax = plt.subplots(figsize=(6, 3), layout="constrained")
ax.barh(list(scores), list(scores.values()), color=["silver"] * 3 + ["tab:blue"] * 4)
ax.axvline(train.bayes_accuracy, color="k", ls=":", label="best possible")
ax.set(xlim=(0.8, 0.93), xlabel="accuracy on new rows")
ax.legend()
plt.show()
