"""
Eight tasks on one set of points
================================

What is asked for decides the learner. The same points in the plane, and what eight tasks make of
them.

*Scope: W2.*
"""

import matplotlib.pyplot as plt
import numpy as np

from novum.bayes import GaussianClassifier
from novum.clustering import KMeans
from novum.decomposition import PCA
from novum.linear import LinearRegression, OrdinalRegression
from novum.neighbors import KernelDensity
from novum.svm import SVDD
from novum.trees import DecisionTreeClassifier

rng = np.random.default_rng(3)
centers = np.array([[0.0, 0.0], [3.0, 2.0], [0.5, 4.0]])
group = np.repeat([0, 1, 2], 40)
X = centers[group] + 0.8 * rng.normal(size=(120, 2))
height = X[:, 0] + 0.5 * X[:, 1] + 0.3 * rng.normal(size=120)
steps = np.array(["low", "middle", "high"])[np.searchsorted([1.0, 3.0], height)]

binary = DecisionTreeClassifier(max_depth=2).fit(X, group == 0)
ordinal = OrdinalRegression(classes=["low", "middle", "high"]).fit(X, steps)
answers = {
    "two classes": binary.predict(X),
    "many classes": GaussianClassifier().fit(X, group).predict(X),
    "a number": LinearRegression().fit(X, height).predict(X),
    "an order": np.searchsorted([0, 1, 2], ordinal.predict_proba(X) @ [0, 1, 2]),
    "groups": KMeans(3, random_state=0).fit(X).labels_,
    "density": KernelDensity(bandwidth="scott").fit(X).score_samples(X),
    "novelty": SVDD(C=0.05).fit(X).predict(X),
    "fewer columns": PCA(1).fit_transform(X)[:, 0],
}
fig, axes = plt.subplots(2, 4, figsize=(9, 4.6), layout="constrained")
for ax, (task, answer) in zip(axes.ravel(), answers.items(), strict=True):
    ax.scatter(*X.T, c=np.asarray(answer, float), s=12, cmap="viridis")
    ax.set(title=task, xticks=[], yticks=[])
plt.show()
