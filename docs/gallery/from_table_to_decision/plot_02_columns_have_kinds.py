"""
Columns have kinds
==================

A file is read into typed columns: numbers, ordered and unordered levels, missing cells. No encoder
stands between it and the learner.

*Scope: W4.*
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt

from novum.data import read
from novum.trees import DecisionTreeClassifier

path = Path(tempfile.mkdtemp()) / "guests.csv"
path.write_text(
    "nights;size;country;came back\n"
    "2;small;DE;no\n3;large;FR;yes\n7;large;?;yes\n1;small;FR;no\n5;large;DE;yes\n2;?;FR;no\n"
)
guests = read(path)
for column in guests.schema.columns:
    print(column.name, column.kind.value, column.levels)
print(guests.report.missing_cells, "missing cells:", guests.report.notes[0])

# %%
# A tree divides levels as they are, and sends rows with a missing cell down both branches in parts.

table = guests.table.drop_columns("came back")
tree = DecisionTreeClassifier().fit(table, guests.table["came back"])
fig, ax = plt.subplots(figsize=(6, 3), layout="constrained")
tree.plot(ax)
plt.show()
