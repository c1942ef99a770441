"""
Words in, class out
===================

Counts of words, a multinomial law for each class, and the words that tell most.

*Scope: G3, G2.*
"""

import matplotlib.pyplot as plt

from novum.bayes import TextClassifier

praise = ["a lovely quiet room and a kind host", "kind staff, lovely breakfast", "quiet and clean"]
blame = ["dirty room and rude staff", "noisy, dirty, never again", "rude host and cold breakfast"]
texts, labels = praise + blame, ["good"] * 3 + ["bad"] * 3
model = TextClassifier().fit(texts, labels)
new = ["the host was rude and the room noisy", "lovely and clean"]
print(dict(zip(new, model.predict(new).tolist(), strict=True)))

words = model.telling_words("good", 6)[::-1]
fig, ax = plt.subplots(figsize=(6, 2.8), layout="constrained")
ax.barh([word for word, _ in words], [weight for _, weight in words])
ax.set_xlabel("what one more occurrence adds to the log-odds of 'good'")
plt.show()
