"""
The grid world of 4 x 3
=======================

Steps slip to the side with probability 0.1 each; living costs 0.04. The values and the policy are
those of the books, and the plan proves how much it can lose at most.

*Scope: R1.*
"""

import matplotlib.pyplot as plt

from novum.reinforcement import GridWorld, solve

world = GridWorld.notes()
plan = solve(world.process)
print(plan.draw())
print("largest possible loss:", plan.certificate.distance_bound)
for method in ("value_iteration", "policy_iteration"):
    print(method, round(solve(world.process, method=method).value((1, 1)), 6))

fig, ax = plt.subplots(figsize=(6, 4), layout="constrained")
plan.draw().plot(ax)
plt.show()
