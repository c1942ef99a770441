"""Most probable configurations: of all variables, of some, and the k best.

    best      max over x of  product of factors        max-product, then back-tracking
    MAP       max over some, sum over the others       sums first, maxima last
    k best    read from the tables of one such run (`novum.graphical.inference.maximization`)

Auxiliary variables of noisy-or nodes are summed over. Where their sums make tables too large, the
noisy or is bounded instead (`novum.graphical.inference.explanation`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from novum.core.errors import InputError, MemoryLimitError
from novum.core.runtime import check_memory
from novum.core.text import label_text
from novum.graphical.inference.limits import check_seconds
from novum.graphical.inference.maximization import Answer, choices, order_of_maxima
from novum.graphical.inference.potentials import ancestors_of, known_potentials
from novum.graphical.inference.protocol import Engine, ExactEngine, impossible
from novum.graphical.models.arrays import NO_HEAD, Evidence, ModelArrays
from novum.numerics import Floats, Integers

# Of each state of a configuration, with all that is kept to find the next; on a reference machine.
BYTES_PER_STATE = 50
SECONDS_PER_STATE = 2e-6


def most_probable_codes(
    model: ModelArrays,
    evidence: Evidence,
    asked: Sequence[int] | None = None,
    k: int = 1,
    engine: ExactEngine | None = None,
) -> list[Answer]:
    """The k most probable configurations with their log-probabilities, best first.

    Parameters
    ----------
    model : ModelArrays
    evidence : Evidence
    asked : variables, optional
        All that are not hidden by default; of fewer, the others are summed over.
    k : int
    engine : ExactEngine, optional
        One with its own `most_probable`, such as `JunctionTree`, which is the default for all but
        textbook-size models; used for configurations of all variables.

    Returns
    -------
    list of (codes, log_probability)
        Codes of the asked variables in their order. Fewer than k where there are no more that
        are possible.
    """
    from novum.graphical.inference.junction import JunctionTree, is_plain

    if k < 1 or int(k) != k:
        raise InputError(f"k is the number of configurations wanted, at least 1; got {k!r}.")
    _check_exact(engine)
    shown = range(model.n_variables - model.n_hidden)
    variables = list(shown if asked is None else asked)
    everything = len(variables) == len(shown)
    _check_number(model, evidence, variables, k)
    solver: Any = engine
    if engine is None and not is_plain(model):
        solver = JunctionTree()
    limit = getattr(solver, "memory_limit", None)
    try:
        if everything and k == 1 and model.n_hidden == 0 and hasattr(solver, "most_probable"):
            answers = [solver.most_probable(model, evidence)]
        elif everything and model.n_hidden > 0 and hidden_sums_are_large(model, evidence):
            answers = bounded_maxima(model, evidence, k, limit)
        else:
            answers = _best(model, evidence, variables, k, limit)
    except MemoryLimitError as error:
        raise _no_way_around(error) from None
    if not answers:
        raise impossible()
    return [(codes[variables], log) for codes, log in answers]


def _check_number(model: ModelArrays, evidence: Evidence, variables: Sequence[int], k: int) -> None:
    """Refuses so many configurations that they do not fit the memory, or take days."""
    free = [variable for variable in variables if evidence.codes[variable] < 0]
    wanted = min(int(k), math.prod(int(model.cards[variable]) for variable in free))
    what = f"A list of the {wanted:,} most probable configurations of {len(variables)} nodes"
    states = wanted * (len(variables) + 1)
    check_memory(BYTES_PER_STATE * states, what, "Ask for fewer: k=...")
    check_seconds(SECONDS_PER_STATE * states, what, "Ask for fewer: k=...")


def _check_exact(engine: Any) -> None:
    if engine is not None and not isinstance(engine, ExactEngine):
        name = type(engine).__name__ if isinstance(engine, Engine) else label_text(engine)
        raise InputError(
            f"Most probable configurations are found exactly or not at all, and {name} is no exact "
            "engine. Leave engine out, or use JunctionTree(memory_limit=...)."
        )


def _no_way_around(error: MemoryLimitError) -> MemoryLimitError:
    """The same without the advice to take an approximation: here there is none."""
    what, advice, _ = str(error).partition("Observe more variables")
    return MemoryLimitError(f"{what}{advice}." if advice else what)


def _best(
    model: ModelArrays,
    evidence: Evidence,
    variables: Sequence[int],
    k: int,
    memory_limit: int | str | None,
) -> list[Answer]:
    """Maximization over some variables, the others summed out before."""
    kept = {variable for variable in variables if evidence.codes[variable] < 0}
    factors = None
    if model.is_directed and len(variables) < model.n_variables:
        named = [*variables, *evidence.observed.tolist(), *evidence.likelihoods]
        factors = np.flatnonzero(ancestors_of(model, named)).tolist()
    potentials = known_potentials(model, evidence, factors)
    order = order_of_maxima(potentials, model.cards, kept)
    summed = frozenset(order.variables) - kept
    best = choices(potentials, order, model.cards, summed, k, memory_limit)
    start = np.where(evidence.codes >= 0, evidence.codes, 0)
    return list(best.answers(start, k))


# --- Noisy or, bounded ----------------------------------------------------------------------------
# The most probable configurations of networks with noisy-or nodes of very many parents.
#
#     P(inactive | x) = product over parents of silent_i(x_i)          a factor for each parent
#     P(active | x)   = 1 - P(inactive | x)  <=  1 - product of the least silent_i  =  bound
#
# The sum over the auxiliary variables of a noisy or is a table over all its parents, and no chain
# of small tables has the same maxima. With `bound` in place of P(active | x) the model has factors
# of two variables only and is at least as large everywhere. Its configurations are met best first
# (`novum.graphical.inference.maximization`) and weighed by what they are really worth; once the
# next one is worth no more than the best found, nothing better can follow. What is found is exact,
# or the search is given up with an error.


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
    potentials = known_potentials(bounded.model, Evidence(bounded.codes))
    cards = bounded.model.cards
    order = order_of_maxima(potentials, cards, bounded.free)
    by_bound = choices(potentials, order, cards, most=most, memory_limit=memory_limit)
    for codes, log in by_bound.answers(start, most):
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
    codes: Integers
    ors: list[_NoisyOr]

    @property
    def free(self) -> list[int]:
        return np.flatnonzero(self.codes < 0).tolist()

    def correction(self, codes: Any) -> float:
        """Logarithm of what a configuration is worth, over its bound."""
        return sum(item.correction(codes) for item in self.ors)


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


def _read_back(model: ModelArrays, child: int, codes: Integers) -> _NoisyOr:
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


def _arrays(tables: list[tuple[list[int], Floats]], cards: Integers) -> ModelArrays:
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


def _climbed(bounded: _Bounded, start: Integers) -> Answer:
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
