"""
Gain, and why gain ratio
========================

Information gain likes columns with many values: the day of a match, which occurs once each, has all
of it. Gain ratio divides by what the split itself tells, which takes most of the advantage away.

*Scope: T1, P4.*
"""

import matplotlib.pyplot as plt
import numpy as np

from novum.data import load
from novum.distributions import estimate_entropy
from novum.trees import c45, id3

table, target = load("weather_nominal", frame="pandas")
table.insert(0, "day", [f"day {i}" for i in range(len(table))])
y = table[target]


def gain(column):
    rest = [
        estimate_entropy(y[table[column] == level], "plug_in", base=2)
        for level in table[column].unique()
    ]
    shares = [(table[column] == level).mean() for level in table[column].unique()]
    return estimate_entropy(y, "plug_in", base=2) - np.dot(shares, rest)


columns = [name for name in table if name != target]
gains = np.array([gain(name) for name in columns])
ratios = gains / [estimate_entropy(table[name], "plug_in", base=2) for name in columns]
print(dict(zip(columns, gains.round(3).tolist(), strict=True)))

# %%
# ID3 falls for the day. Of fourteen rows even the ratio of the day is the largest, 0.247; C4.5 asks
# for the outlook all the same, since at least two branches must have two rows each.

for name, learner in (("ID3", id3()), ("C4.5", c45())):
    tree = learner.fit(table[columns], y).tree_
    print(name, "asks first for", columns[tree.column[0]])

fig, ax = plt.subplots(figsize=(6, 3), layout="constrained")
places = np.arange(len(columns))
ax.bar(places - 0.2, gains, 0.4, label="gain in bits")
ax.bar(places + 0.2, ratios, 0.4, label="gain ratio")
ax.set_xticks(places, columns)
ax.legend()
plt.show()
