"""
The best hypothesis and the best answer
=======================================

Three hypotheses with posteriors 0.4, 0.3, 0.3; the most probable says +, the two others say -. The
Bayes optimal classifier lets all of them vote, and says what the best single one does not.

*Scope: P7.*
"""

import matplotlib.pyplot as plt

from novum.bayes import HypothesisSpace

space = HypothesisSpace(
    {"first": {"+": 1.0, "-": 0.0}, "second": {"+": 0.0, "-": 1.0}, "third": {"+": 0.0, "-": 1.0}},
    prior={"first": 0.4, "second": 0.3, "third": 0.3},
)
print("posterior:", space.posterior, "optimal:", space.predict_proba())

# %%
# Bags of candy: the belief after every lime.

share = {"all cherry": 0.0, "1/4 lime": 0.25, "half": 0.5, "3/4 lime": 0.75, "all lime": 1.0}
bags = HypothesisSpace(
    {name: {"cherry": 1 - lime, "lime": lime} for name, lime in share.items()},
    prior=dict(zip(share, [0.1, 0.2, 0.4, 0.2, 0.1], strict=True)),
)
beliefs, forecast = [bags.posterior], [bags.predict_proba()["lime"]]
for _ in range(10):
    bags = bags.update(["lime"])
    beliefs.append(bags.posterior)
    forecast.append(bags.predict_proba()["lime"])

fig, ax = plt.subplots(figsize=(6.5, 3.2), layout="constrained")
for name in share:
    ax.plot([belief[name] for belief in beliefs], label=name)
ax.plot(forecast, "k--", label="next is lime")
ax.set(xlabel="lime candies seen", ylabel="probability")
ax.legend(fontsize=8)
plt.show()
