"""
The most probable weather behind umbrellas
==========================================

Max-product and back-tracking find the best path, which need not be made of the best states.

*Scope: B4.*
"""

import matplotlib.pyplot as plt
import numpy as np

from novum.graphical import HiddenMarkovModel

model = HiddenMarkovModel.of(
    [0.5, 0.5],
    [[0.7, 0.3], [0.3, 0.7]],
    [[0.9, 0.1], [0.2, 0.8]],
    states=["rain", "dry"],
    symbols=["umbrella", "none"],
)
seen = ["umbrella", "umbrella", "none", "umbrella", "none", "none", "none", "umbrella"]
path = model.most_probable(seen)
print(path.states, round(path.log_probability, 3))
print("likelihood:", round(model.log_likelihood(seen), 3))

fig, ax = plt.subplots(figsize=(6.5, 3), layout="constrained")
ax.plot(model.filtered(seen)[:, 0], "o:", label="by what came before")
ax.plot(model.smoothed(seen)[:, 0], "o-", label="by all days")
ax.step(range(8), np.array(path.states) == "rain", where="mid", color="k", label="best path")
ax.set_xticks(range(8), seen, rotation=30)
ax.set_ylabel("P(rain)")
ax.legend(fontsize=8)
plt.show()
