"""The rounds of gradient boosting: gradients, trees, and the loss on rows that are not seen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import sqrt
from typing import Any

import numpy as np

from novum.core.errors import InputError
from novum.core.learners import Certificate, Verdict
from novum.core.runtime import OutOfTime, check_cancelled, seed_sequence, stops_at_deadline, stream
from novum.ensemble.adaboost_rounds import BestRound
from novum.ensemble.gradient_boosting.growing import (
    BoostingTable,
    GrownTree,
    TreeGrower,
    TreeRules,
    forest_of,
)
from novum.ensemble.gradient_boosting.losses import Loss
from novum.numerics import Bytes, Codes, Floats, Mask
from novum.trees import CellRows, Forest, forest_sums

# Rows beyond which the training loss is looked at in every tenth round only.
_MANY_ROWS = 10_000
# Gradients whose sum is smaller than this share of their sizes cancel but for rounding.
_ROUNDING = 1e-12


class Rounds:
    """The rounds of one fit.

    Parameters
    ----------
    model : BoostingModel
        Whose settings hold; it is given what was found by `store`.
    rules : TreeRules
    rows : CellRows
        Their cells are asked for only with `earlier`.
    table : BoostingTable
    codes : uint8 array (n, n_columns)
        The rows in it.
    loss : Loss
    earlier : sequence of Forest
        Trees of an earlier fit that this one goes on from.
    """

    def __init__(
        self,
        model: Any,
        rules: TreeRules,
        rows: CellRows,
        table: BoostingTable,
        codes: Bytes,
        loss: Loss,
        earlier: Sequence[Forest],
    ) -> None:
        self.model, self.rows, self.earlier = model, rows, earlier
        self.root, self.rule = seed_sequence(model.random_state), model._stopping_rule()
        n, self.weight = rows.n_rows, rows.weight
        self.targets = rows.targets.astype(np.float64)
        held = self._held_out()
        self.seen, self.held = np.flatnonzero(~held).astype(np.int32), np.flatnonzero(held)
        self.table = table
        chance = int(stream(self.root, "columns").integers(1, 2**63))
        self.row_key = stream(self.root, "rows").integers(2**64, dtype=np.uint64)
        self.grower = TreeGrower(table, codes, rows.weight, rules, chance)
        self.losses = list(model.losses_) if earlier else [loss] * self.targets.shape[1]
        seen = self.seen
        if earlier:
            starts = model.starts_
            scores = [forest_sums(forest, rows.cells)[:, 0] for forest in earlier]
        else:
            starts = np.concatenate(
                [loss.start(y, self.weight[seen]) for y in self.targets[seen].T]
            )
            scores = [np.zeros(n) for _ in starts]
        self.starts = starts
        self.scores = np.array(scores) + starts[:, np.newaxis]
        self.n_outputs = len(starts) // len(self.losses)
        self.trees: list[list[GrownTree]] = [[] for _ in starts]
        self.n_earlier = earlier[0].n_trees if earlier else 0
        self.judged: list[tuple[float, float]] = []
        self.improvements: list[tuple[float, float]] = []
        self._fit_losses()
        with np.errstate(over="ignore", invalid="ignore"):
            self.row_losses = self._values(slice(None))
            self.trace = [self._training_loss()]
        if not np.isfinite(self.trace[0]):
            raise InputError(
                f"{type(loss).__name__} of the targets overflows. Divide them by a larger unit."
            )

    def _held_out(self) -> Mask:
        rule, n = self.rule, self.rows.n_rows
        if rule is None or rule.is_out_of_bag:
            if rule is not None and self._n_drawn(n) == n:
                raise InputError(
                    "EarlyStopping('out_of_bag') judges by rows that a round has not drawn, and "
                    f"subsample={self.model.subsample} of {n} rows draws all. Set subsample below "
                    "1, or hold out a share of rows."
                )
            return np.zeros(n, bool)
        codes = np.zeros(n, np.int64)
        if self.rows.classes is not None:
            codes = self.rows.targets[:, 0]
        return rule.held_out(codes, stream(self.root, "validation"))

    def _n_drawn(self, n: int) -> int:
        """How many of n rows a round draws."""
        return max(1, round(self.model.subsample * n))

    def _of(self, part: int) -> slice:
        """The outputs of one target."""
        return slice(part * self.n_outputs, (part + 1) * self.n_outputs)

    # Rounds

    def run(self, progress: Any) -> str:
        """All rounds, or as many as it takes; what ended them."""
        model, rule = self.model, self.rule
        best = None if rule is None else BestRound(rule)
        try:
            for number in range(self.n_earlier, model.n_estimators):
                check_cancelled()
                drawn = self._drawn(number)
                is_still = self._round(drawn)
                if self.rows.n_rows <= _MANY_ROWS or number % 10 == 9:
                    self.trace.append(self._training_loss())
                if drawn is not None:
                    self._note_improvement(drawn)
                if best is not None:
                    self._judge()
                    if best.is_over(-self.judged[-1][0]):
                        return "early stopping"
                if progress.advance():
                    return "callback"
                if is_still and self._is_settled():
                    return "no split"
        except KeyboardInterrupt as end:
            rounds, is_over = min(map(len, self.trees)), isinstance(end, OutOfTime)
            if rounds == 0 or not (is_over or model.keep_interrupted):
                raise
            self.trees = [trees[:rounds] for trees in self.trees]
            return "deadline" if stops_at_deadline() else "interrupt"
        return "n_estimators"

    def _drawn(self, number: int) -> Codes | None:
        """The rows of a round, ascending; None for all that are there to learn from."""
        if self.model.subsample == 1.0:
            return None
        from novum.ensemble.gradient_boosting.tree_kernels import draw_rows

        drawn = np.empty(self._n_drawn(len(self.seen)), np.int32)
        draw_rows(self.row_key, number, self.seen, drawn)
        return drawn

    def _round(self, drawn: Codes | None) -> bool:
        """One tree for each output; whether none of them has a split or moves a score."""
        self._fit_losses()
        is_still = True
        for k, (tree, gradient) in enumerate(self._grown(self.scores, drawn)):
            self.trees[k].append(tree)
            is_still &= len(tree.value) == 1 and self._is_still(k, tree, gradient, drawn)
        return is_still

    def _grown(
        self, scores: Floats, drawn: Codes | None, n_columns: int | None = None
    ) -> Iterator[tuple[GrownTree, Floats]]:
        """A tree for each output, added to `scores`, and the gradients that it was grown on."""
        rows = drawn if drawn is not None else self.seen if len(self.held) else None
        for part, loss in enumerate(self.losses):
            y, own = self.targets[:, part], scores[self._of(part)]
            g, h = loss.gradients(own, y)
            residuals = y - own[0]
            has_own_values = type(loss).leaf_value is not Loss.leaf_value

            def of_leaf(
                leaf: Codes, loss: Loss = loss, residuals: Floats = residuals
            ) -> float | None:
                return loss.leaf_value(residuals[leaf], self.weight[leaf])

            for k in range(self.n_outputs):
                curvature = None if h is None else h[k]
                leaf_value = of_leaf if has_own_values else None
                grow = self.grower.grow
                yield grow(g[k], curvature, loss, own[k], rows, leaf_value, n_columns), g[k]

    def _is_still(self, k: int, tree: GrownTree, gradient: Floats, drawn: Codes | None) -> bool:
        """Whether a tree of one leaf changes nothing, nor would one on other rows.

        Other rows have other leaves, unless all gradients are zero. Of all rows the leaf is zero
        but for rounding where their gradients cancel.
        """
        gradient = gradient[self.seen]
        if drawn is not None:
            return not gradient.any()
        weight, scores = self.weight[self.seen], self.scores[k]
        if abs(weight @ gradient) <= _ROUNDING * (weight @ np.abs(gradient)):
            return True
        return bool((scores + tree.value[0] == scores).all())

    def _is_settled(self) -> bool:
        """Whether no choice of columns makes a further round differ from one that was still."""
        self._fit_losses()
        trees = self._grown(self.scores.copy(), None, self.rows.schema.n_columns)
        return all(
            len(tree.value) == 1 and self._is_still(k, tree, gradient, None)
            for k, (tree, gradient) in enumerate(trees)
        )

    def _fit_losses(self) -> None:
        """Fits what losses learn besides scores, to the present ones."""
        seen = self.seen
        for part, loss in enumerate(self.losses):
            if type(loss).fitted is not Loss.fitted:
                scores = self.scores[self._of(part)][:, seen]
                y, weight = self.targets[seen, part], self.weight[seen]
                self.losses[part] = loss.fitted(scores, y, weight)

    # How well

    def _values(self, rows: Any) -> Floats:
        """The loss of rows, added over targets."""
        values = np.zeros(len(self.weight[rows]))
        for t, loss in enumerate(self.losses):
            values += loss.values(self.scores[self._of(t)][:, rows], self.targets[rows, t])
        return values

    def _training_loss(self) -> float:
        seen = self.seen if len(self.held) else slice(None)
        weight = self.weight[seen]
        return float((self._values(seen) * weight).sum() / weight.sum())

    def _note_improvement(self, drawn: Codes) -> None:
        """Notes what the round takes off the loss of the rows that it has not drawn."""
        before, self.row_losses = self.row_losses, self._values(slice(None))
        rest = np.zeros(self.rows.n_rows, bool)
        rest[self.seen] = True
        rest[drawn] = False
        gained = before[rest] - self.row_losses[rest]
        self.improvements.append(_mean_and_error(gained, self.weight[rest]))

    def _judge(self) -> None:
        """Notes the loss on rows that a round has not seen, and its standard error.

        Of rows out of bag, which earlier rounds have seen, only what this round takes off counts.
        """
        assert self.rule is not None
        if not self.rule.is_out_of_bag:
            held = self.held
            self.judged.append(_mean_and_error(self._values(held), self.weight[held]))
            return
        gain, error = self.improvements[-1]
        last, last_error = self.judged[-1] if self.judged else (self.trace[0], 0.0)
        self.judged.append((last - gain, float(np.hypot(last_error, error))))

    def _kept(self) -> int:
        """Rounds to keep: up to the least loss on rows not seen, or one standard error from it."""
        rule = self.rule
        if rule is None or not self.judged:
            return len(self.trees[0])
        losses = np.array([loss for loss, _ in self.judged])
        best = int(np.argmin(losses))
        if rule.one_standard_error:
            best = int(np.argmax(losses <= losses[best] + self.judged[best][1]))
        return best + 1

    def store(self, stopped_by: str, seconds: float) -> None:
        """Gives the model what the rounds have found."""
        model, kept = self.model, self._kept()
        forests = [forest_of(self.table, trees[:kept]) for trees in self.trees if trees]
        if self.earlier:
            pairs = zip(self.earlier, forests, strict=bool(forests))
            forests = [Forest.joined(pair) for pair in pairs] or list(self.earlier)
        model.forests_, model.starts_ = tuple(forests), self.starts
        model.losses_ = tuple(self.losses)
        model.validation_losses_ = np.array([loss for loss, _ in self.judged])
        gained = model.__dict__.pop("oob_improvement_", np.full(self.n_earlier, np.nan))
        if model.subsample < 1.0:
            gained = [*gained[: self.n_earlier], *(gain for gain, _ in self.improvements[:kept])]
            model.oob_improvement_ = np.array(gained)
        asked = stopped_by in ("callback", "interrupt", "deadline")
        model.certificate_ = Certificate(
            objective=f"{type(self.losses[0]).__name__}, lowered one tree at a time",
            verdict=Verdict.STOPPED_EARLY if asked else Verdict.LOCAL,
            value=self._training_loss(),
            iterations=forests[0].n_trees,
            trace=self.trace,
            details={"stopped_by": stopped_by, "rounds": len(self.trees[0]), "kept": kept},
            seconds=seconds,
        )


def _mean_and_error(values: Floats, weight: Floats) -> tuple[float, float]:
    """The weighted mean and its standard error; of no values NaN."""
    if not len(values):
        return np.nan, np.nan
    mean = float(np.average(values, weights=weight))
    spread = float(np.average((values - mean) ** 2, weights=weight))
    return mean, sqrt(spread / max(len(values) - 1, 1))
