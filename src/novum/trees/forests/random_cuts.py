"""Growing trees by random cuts in the plain case, without sums by code.

A cut that is drawn uniformly in the range of a node's rows is judged by one look at them, so a
column costs as little as its rows; the general engine would sum them by code first. Both grow the
same trees from the same random numbers.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from novum.trees.growth.growing import SLICE, CodedTable, GrowthRules, PlainGrowth, is_plain


def is_plain_chance(table: CodedTable, rules: GrowthRules) -> bool:
    """Whether a tree of random cuts can be grown by `RandomCutGrowth`."""
    return rules.random_cuts and is_plain(table, replace(rules, random_cuts=False))


class RandomCutGrowth(PlainGrowth):
    """A tree of random cuts that is being grown, in the case that `is_plain_chance`."""

    def _go_on(self) -> None:
        from novum.trees.forests.random_cuts_kernels import grow_by_chance

        table = self.table
        # A code that no row has keeps the largest cell of those before it.
        ceiling = np.maximum.accumulate(table.high, axis=1)
        grow_by_chance(
            table.codes,
            table.labels,
            table.numbers,
            *self.near_table,
            self.rows,
            self.weight,
            table.low,
            ceiling,
            self.options,
            self.limits,
            self.permutation,
            self.chance,
            self.scratch,
            np.empty(table.n_stats),
            *self.spare,
            self.waiting,
            self.integers,
            self.numbers,
            self.sums,
            self.state,
            SLICE,
        )
