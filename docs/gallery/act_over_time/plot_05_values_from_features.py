"""
Values from features, and from records
======================================

Where states are numbers, values are a function of features. From recorded steps alone fitted Q
iteration learns with any regressor.

*Scope: R2, R3.*
"""

import matplotlib.pyplot as plt
import numpy as np

from novum.reinforcement import FittedQ, FourierFeatures, LeastSquaresPolicyIteration, Steps
from novum.trees import ExtraTreesRegressor

# A point on the line from 0 to 1 moves left or right; only the right end pays.
rng = np.random.default_rng(0)
state = rng.uniform(0, 1, 3000)
action = rng.integers(0, 2, 3000)
ahead = np.clip(state + np.where(action == 1, 0.1, -0.1) + 0.02 * rng.normal(size=3000), 0, 1)
ends = ahead >= 1
steps = Steps.of(state[:, None], action, ends.astype(float), ahead[:, None], ends)

linear = LeastSquaresPolicyIteration(FourierFeatures((0.0,), (1.0,), order=4), discount=0.9).fit(
    steps
)
trees = FittedQ(
    ExtraTreesRegressor(30, min_samples_leaf=20, random_state=0), discount=0.9, max_iter=25
)
trees.fit(steps)

x = np.linspace(0, 1, 100)
fig, axes = plt.subplots(1, 2, figsize=(9, 3.2), sharey=True, layout="constrained")
for ax, agent, title in zip(axes, (linear, trees), ("Fourier features", "trees"), strict=True):
    ax.plot(x, agent.action_values(x[:, None]), label=["left", "right"])
    ax.set(title=title, xlabel="place", ylabel="value")
    ax.legend()
    print(title, "goes right everywhere:", set(agent.predict(x[:, None])))
plt.show()
