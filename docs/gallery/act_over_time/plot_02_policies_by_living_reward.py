"""
How much does living cost?
==========================

When every step hurts enough, the agent leaves by the nearest exit, good or bad; when living is
pleasant it never leaves. All changes of the policy in between are found exactly.

*Scope: R1.*
"""

import matplotlib.pyplot as plt

from novum.reinforcement import GridWorld, policy_ranges, solve

process = GridWorld.notes().process
for part in policy_ranges(process, -2.0, -0.01):
    print(f"rewards from {part.low:.4f} to {part.high:.4f}")

fig, axes = plt.subplots(2, 2, figsize=(9, 6), layout="constrained")
for ax, reward in zip(axes.ravel(), (-2.0, -0.4, -0.04, -0.01), strict=True):
    world = GridWorld.notes(living_reward=reward)
    solve(world.process).draw().plot(ax)
    ax.set_title(f"a step gives {reward:g}")
plt.show()
