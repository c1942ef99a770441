"""The most probable configurations of networks with noisy-or nodes of very many parents.

    P(inactive | x) = product over parents of silent_i(x_i)          a factor for each parent
    P(active | x)   = 1 - P(inactive | x)  <=  1 - product of the least silent_i  =  bound

The sum over the auxiliary variables of a noisy or is a table over all its parents, and no chain of
small tables has the same maxima. With `bound` in place of P(active | x) the model has factors of
two variables only and is at least as large everywhere. Its configurations are met best first
(`novum.graphical.inference.maximization`) and weighed by what they are really worth; once the next
one is worth no more than the best found, nothing better can follow. What is found is exact, or the
search is given up with an error.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from novum.core.errors import InputError
from novum.graphical.inference.maximization import Answer, Choices, choices, order_of_maxima
from novum.graphical.inference.potentials import known_potentials
from novum.graphical.models.arrays import NO_HEAD, Evidence, Floats, ModelArrays, Positions

# Sums over auxiliary variables that make larger tables are not made.
LARGE_TABLE = 2**20
# Configurations that are weighed before the search is given up, and states kept of them.
MOST_CANDIDATES = 20_000
MOST_STATES = 2 * 10**7


def hidden_sums_are_large(model: ModelArrays, evidence: Evidence) -> bool:
    """Whether summing over the auxiliary variables first makes tables beyond `LARGE_TABLE`."""
    codes, cards = evidence.codes, model.cards
    for item in _bounded(model, evidence).ors:
        scope = [v for v in (*item.parents, item.child) if codes[v] < 0]
        # The sum over a chain is a table over all its ends.
        if math.prod(int(cards[v]) for v in scope) > LARGE_TABLE:
            return True
    kept = np.flatnonzero(codes[: model.n_variables - model.n_hidden] < 0).tolist()
    order = order_of_maxima(known_potentials(model, evidence), cards, kept)
    return order.largest > LARGE_TABLE


def bounded_maxima(
    model: ModelArrays, evidence: Evidence, k: int, memory_limit: int | str | None = None
) -> list[Answer]:
    """The k best configurations of all variables that are not auxiliary; fewer if there are none.

    Raises
    ------
    InputError
        Where too many configurations are nearly as likely to prove which is best.
    """
    bounded = _bounded(model, evidence)
    start = np.maximum(evidence.codes[: bounded.model.n_variables], 0)
    most = max(k + 1, min(MOST_CANDIDATES, MOST_STATES // len(start)))
    best: dict[bytes, Answer] = {}
    n_met = 0
    for codes, log in _by_bound(bounded, most, memory_limit).answers(start, most):
        if len(best) == k and log <= min(value for _, value in best.values()):
            break
        n_met += 1
        met = [(codes, log + bounded.correction(codes))]
        if n_met == 1:
            met.append(_climbed(bounded, codes))
        best.update({one.tobytes(): (one, value) for one, value in met if value > -math.inf})
        best = dict(sorted(best.items(), key=lambda item: -item[1][1])[:k])
    if n_met == most:
        raise _not_proved(bounded, most)
    return list(best.values())


@dataclass(frozen=True, eq=False)
class _NoisyOr:
    """A noisy or, read back from its chain of auxiliary variables.

    Attributes
    ----------
    child, active : int
        The variable and its active state.
    parents : list of int
    silent : list of arrays
        The share that each state of a parent leaves inactive; that of the leak is in the first.
    top : float
        At least the probability of being active, whatever is unknown.
    """

    child: int
    active: int
    parents: list[int]
    silent: list[Floats]
    top: float

    def correction(self, codes: Any) -> float:
        """Logarithm of what a configuration is worth, over its bound."""
        if codes[self.child] != self.active:
            return 0.0
        share = math.prod(
            float(silent[codes[parent]])
            for parent, silent in zip(self.parents, self.silent, strict=True)
        )
        return math.log((1.0 - share) / self.top) if share < 1.0 else -math.inf


@dataclass(frozen=True, eq=False)
class _Bounded:
    """The model that bounds another one.

    Attributes
    ----------
    model : ModelArrays
        Without auxiliary variables.
    codes : int array
        The evidence.
    ors : list of _NoisyOr
        Those that are bounded.
    """

    model: ModelArrays
    codes: Positions
    ors: list[_NoisyOr]

    @property
    def free(self) -> list[int]:
        return np.flatnonzero(self.codes < 0).tolist()

    def correction(self, codes: Any) -> float:
        """Logarithm of what a configuration is worth, over its bound."""
        return sum(item.correction(codes) for item in self.ors)


def _by_bound(bounded: _Bounded, most: int, memory_limit: int | str | None) -> Choices:
    potentials = known_potentials(bounded.model, Evidence(bounded.codes))
    cards = bounded.model.cards
    order = order_of_maxima(potentials, cards, bounded.free)
    return choices(potentials, order, cards, most=most, memory_limit=memory_limit)


# --- The bound ------------------------------------------------------------------------------------


def _bounded(model: ModelArrays, evidence: Evidence) -> _Bounded:
    n_shown = model.n_variables - model.n_hidden
    tables: list[tuple[list[int], Floats]] = []
    ors = []
    for variable in range(n_shown):
        scope = model.scope(variable).tolist()
        if scope[0] < n_shown:
            tables.append((scope, model.table(variable)))
            continue
        ors.append(_read_back(model, variable, evidence.codes))
        tables += _factors(ors[-1])
    tables += [([variable], weights) for variable, weights in evidence.likelihoods.items()]
    return _Bounded(_arrays(tables, model.cards[:n_shown]), evidence.codes[:n_shown], ors)


def _read_back(model: ModelArrays, child: int, codes: Positions) -> _NoisyOr:
    """The strengths from the tables of a chain, last parent first."""
    parents: list[int] = []
    silent: list[Floats] = []
    # Once the variable before it is active, the child is.
    active = int(model.table(child)[1, 0].argmax())
    variable, inactive = child, 1 - active
    while variable >= 0:
        *before, parent, _ = model.scope(variable).tolist()
        cells = model.table(variable)[..., inactive]
        parents.insert(0, parent)
        silent.insert(0, cells[0] if before else cells)
        variable, inactive = (before[0], 0) if before else (-1, 0)
    left = [
        float(part.min() if codes[parent] < 0 else part[codes[parent]])
        for parent, part in zip(parents, silent, strict=True)
    ]
    return _NoisyOr(child, active, parents, silent, 1.0 - math.prod(left))


def _factors(item: _NoisyOr) -> list[tuple[list[int], Floats]]:
    """The bound as one factor for each parent and one for the child."""
    made: list[tuple[list[int], Floats]] = []
    for parent, silent in zip(item.parents, item.silent, strict=True):
        table = np.ones((len(silent), 2))
        table[:, 1 - item.active] = silent
        made.append(([parent, item.child], table))
    own = np.ones(2)
    own[item.active] = item.top
    return [*made, ([item.child], own)]


def _arrays(tables: list[tuple[list[int], Floats]], cards: Positions) -> ModelArrays:
    sizes = [table.size for _, table in tables]
    return ModelArrays(
        cards=cards,
        scope_starts=np.cumsum([0, *(len(scope) for scope, _ in tables)]).astype(np.int64),
        scopes=np.array([variable for scope, _ in tables for variable in scope], np.int64),
        table_starts=np.cumsum([0, *sizes]).astype(np.int64),
        tables=np.concatenate([table.ravel() for _, table in tables]),
        heads=np.full(len(tables), NO_HEAD, np.int64),
        order=np.arange(len(cards)),
    )


# --- A good answer to begin with ------------------------------------------------------------------


def _climbed(bounded: _Bounded, start: Positions) -> Answer:
    """Better than a configuration as long as changing one parent of a noisy or makes it so.

    The better the first answers are, the fewer configurations have a bound above them.
    """
    model, codes = bounded.model, start.tolist()
    factors: dict[int, list[int]] = {}
    for factor in range(model.n_factors):
        for variable in model.scope(factor).tolist():
            factors.setdefault(variable, []).append(factor)
    parents = {parent for item in bounded.ors for parent in item.parents}
    moved = sorted(parents.intersection(bounded.free))
    ors = {v: [o for o in bounded.ors if v == o.child or v in o.parents] for v in moved}

    def worth(variable: int, state: int) -> float:
        before, codes[variable] = codes[variable], state
        value = sum(_log_cell(model, factor, codes) for factor in factors[variable])
        value += sum(item.correction(codes) for item in ors[variable])
        codes[variable] = before
        return value

    changed = True
    while changed:
        changed = False
        for variable in moved:
            values = [worth(variable, state) for state in range(int(model.cards[variable]))]
            # The change must be more than rounding, so that no circle is run.
            if max(values) > values[codes[variable]] + 1e-9:
                codes[variable] = values.index(max(values))
                changed = True
    log = sum(_log_cell(model, factor, codes) for factor in range(model.n_factors))
    return np.array(codes, np.int64), log + bounded.correction(codes)


def _log_cell(model: ModelArrays, factor: int, codes: list[int]) -> float:
    cell = model.table(factor)[tuple(codes[v] for v in model.scope(factor).tolist())]
    return math.log(cell) if cell > 0 else -math.inf


def _not_proved(bounded: _Bounded, most: int) -> InputError:
    widest = max(len(item.parents) for item in bounded.ors)
    return InputError(
        f"Which configuration is most probable was not proved with {most} candidates: the noisy or "
        f"of {widest} parents makes too many of them nearly as likely. Observe it or more of its "
        "parents, or ask for some nodes: nodes=[...]."
    )
