"""
The main job
============

One call reads a table, compares models on shared folds, and judges the chosen one on rows that
nothing was learned from. Errors of this table do not cost the same: a credit that is not repaid
costs five times one that was refused for nothing.

*Scope: W1, D5.*
"""

import matplotlib.pyplot as plt

import novum

run = novum.run("german_credit", preset="quick", models=["linear", "naive_bayes", "tree"])
board = run.leaderboard
print(board.to_pandas().iloc[:, :4].to_string(index=False))

# %%
# The cost of a decision by the models, beside the best single answer for everybody.

names = board["model"].to_pylist()
costs = board[1].to_pylist()
colors = ["silver" if name == "the same answer for every row" else "tab:blue" for name in names]
fig, ax = plt.subplots(figsize=(7, 2.6), layout="constrained")
ax.barh(names[::-1], costs[::-1], color=colors[::-1])
ax.set_xlabel("mean cost of a decision in cross-validation")
plt.show()
