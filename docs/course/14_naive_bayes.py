r"""
14. Naive Bayes and words
=========================

**The idea.** Given the class, columns are taken as independent. That is wrong and works, because
only the order of the posteriors counts.

**The formula.**

.. math:: P(c \mid x) \propto P(c) \prod_j P(x_j \mid c), \qquad
          P(w \mid c) = \frac{N_{wc} + \alpha}{\sum_{w'} N_{w'c} + \alpha |V|} .
"""

import matplotlib.pyplot as plt
import numpy as np

from novum.bayes import CategoricalNB, MultinomialNB, TextClassifier
from novum.data import load

# %%
# **The definition in ten lines.** Is it a day to play?

table, target = load("weather_nominal", frame="pandas")
X, y = table.drop(columns=target), table[target].to_numpy()
day = ["sunny", "cool", "high", "TRUE"]
day = [
    level if level in X[name].unique() else X[name].iloc[0]
    for name, level in zip(X, day, strict=True)
]
scores = {}
for label in ("yes", "no"):
    rows = X[y == label]
    product = np.mean(y == label)
    for name, level in zip(X, day, strict=True):
        product *= (np.sum(rows[name] == level) + 1) / (len(rows) + X[name].nunique())
    scores[label] = product
share = scores["yes"] / sum(scores.values())
print(day, "P(play) =", round(share, 4))

# %%
# **The same numbers.**

model = CategoricalNB(alpha=1.0).fit(X, y)
row = X[:1].copy()
row.iloc[0] = day
assert abs(model.predict_proba(row)[0, list(model.classes_).index("yes")] - share) < 1e-12

# %%
# Words of documents: counts add within a class.

counts, labels = np.array([[2, 0], [1, 1], [0, 3]]), ["a", "a", "b"]
theta = np.array([[3 + 1, 1 + 1], [0 + 1, 3 + 1]], float)
theta /= theta.sum(axis=1, keepdims=True)
assert np.allclose(np.exp(MultinomialNB().fit(counts, labels).feature_log_prob_), theta)

texts = ["buy cheap pills now", "cheap offer, buy now", "see you at lunch", "lunch tomorrow?"]
mail = TextClassifier().fit(texts, ["spam", "spam", "ham", "ham"])
words = mail.telling_words("spam", 4)
fig, ax = plt.subplots(figsize=(5, 2.4), layout="constrained")
ax.barh([w for w, _ in words][::-1], [v for _, v in words][::-1])
ax.set_xlabel("log-odds of spam for each occurrence")
plt.show()

# %%
# **Exercise.** Three throws, three heads. What does add-one smoothing say of the next one?

answer = 4 / 5
coin = CategoricalNB(alpha=1.0, min_categories=2).fit([[1], [1], [1]], ["coin"] * 3)
assert abs(np.exp(coin.feature_log_prob_[0]).max() - answer) < 1e-12, "not yet"
print("right")
