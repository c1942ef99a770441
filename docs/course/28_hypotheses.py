r"""
28. Hypotheses and what they say together
=========================================

**The idea.** Learning is choosing among hypotheses, or letting all of them vote by how probable
they are after the data. The most probable hypothesis need not give the most probable answer.

**The formula.**

.. math:: P(h \mid D) \propto P(D \mid h) P(h), \qquad
          \hat y = \arg\max_y \sum_h P(y \mid h) P(h \mid D) .
"""

import matplotlib.pyplot as plt
import numpy as np

from novum.bayes import HypothesisSpace, conjunctive_concepts

# %%
# **The definition in ten lines.** Bags of candy.

lime = np.array([0.0, 0.25, 0.5, 0.75, 1.0])
belief = np.array([0.1, 0.2, 0.4, 0.2, 0.1])
beliefs, next_lime = [belief], [belief @ lime]
for _ in range(8):
    belief = belief * lime
    belief = belief / belief.sum()
    beliefs.append(belief)
    next_lime.append(belief @ lime)
print(np.round(next_lime, 4))

# %%
# **The same numbers.**

bags = HypothesisSpace(
    {str(p): {"cherry": 1 - p, "lime": p} for p in lime},
    prior={str(p): b for p, b in zip(lime, beliefs[0], strict=True)},
)
after = bags.update(["lime"] * 8)
assert np.allclose(list(after.posterior.values()), beliefs[-1])
assert np.isclose(after.predict_proba()["lime"], next_lime[-1])
fig, ax = plt.subplots(figsize=(5.5, 2.8), layout="constrained")
ax.plot(beliefs, label=[f"{p:g} lime" for p in lime])
ax.plot(next_lime, "k--", label="next is lime")
ax.set(xlabel="lime candies seen", ylabel="probability")
ax.legend(fontsize=8)
plt.show()

# %%
# All conjunctions over two attributes, for a learner that tries every one.

space = list(conjunctive_concepts({"sky": ["sunny", "rainy"], "air": ["warm", "cold"]}))
print(len(space), "concepts, from", repr(str(space[0])), "to", repr(str(space[-1])))

# %%
# **Exercise.** Posteriors 0.4, 0.3, 0.3; the first says +, the others say -. What does the most
# probable hypothesis say, and what is the best answer?

most_probable, best = "+", "-"
vote = HypothesisSpace(
    {"1": {"+": 1.0, "-": 0.0}, "2": {"+": 0.0, "-": 1.0}, "3": {"+": 0.0, "-": 1.0}},
    prior={"1": 0.4, "2": 0.3, "3": 0.3},
).predict_proba()
assert vote[best] > vote[most_probable], "not yet"
print("right:", vote)
