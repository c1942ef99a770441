"""`solve`: the best policy of a known process, by the method that suits it.

What "auto" does:

    a horizon                   backward induction
    no discount                 free loops are merged (`undiscounted`); policy iteration where the
                                process is small, sweeps along components and then policy iteration
                                where it is large
    few states                  policy iteration: exact, a handful of linear systems
    many states                 modified policy iteration stopped by the span. Its pace is watched:
                                where it would take longer than another method, sweeps along
                                components take over (sparse), or exact policy iteration (dense)

Whatever was done, what is said about the result is proved afterwards, by `loss_bound` alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from novum.core.errors import InputError
from novum.core.learners import Certificate, Stopwatch, Verdict, warn_if_stopped
from novum.core.text import label_text, listed
from novum.numerics import Floats, one_blas_thread
from novum.reinforcement.pairs import Pairs
from novum.reinforcement.planning import successive as steps
from novum.reinforcement.planning.backward_induction import backward_induction
from novum.reinforcement.planning.components import improve_by_sweeps, sweep_components
from novum.reinforcement.planning.linear_program import by_linear_program
from novum.reinforcement.planning.loss_bound import LossBound, loss_bound
from novum.reinforcement.planning.plan import Plan, policy_of_pairs
from novum.reinforcement.planning.policy_iteration import Approximation, first_policy, improve
from novum.reinforcement.planning.undiscounted import ending_policy, merge_free_loops
from novum.reinforcement.process import MarkovDecisionProcess

# Up to here a policy's equations are solved in milliseconds.
FEW_STATES = 500
# And up to here those of sparse policies, mostly, in a few hundredths of a second.
SPARSE_SYSTEM = 20_000
# Probabilities after which sweeps that come nearer too slowly give way to exact solutions: about
# half a minute.
PATIENCE = 1e10
METHODS = (
    "auto",
    "value_iteration",
    "modified_policy_iteration",
    "policy_iteration",
    "gauss_seidel",
    "linear_program",
)


def solve(
    process: MarkovDecisionProcess,
    horizon: int | None = None,
    method: str = "auto",
    tol: float = 1e-10,
) -> Plan:
    """The best policy of a process, its values, and a proof of how good it is.

    Parameters
    ----------
    process : MarkovDecisionProcess or GridWorld
    horizon : int, optional
        Number of steps; without one the process goes on until it ends, or for ever.
    method : {"auto", "value_iteration", "modified_policy_iteration", "policy_iteration", \
"gauss_seidel", "linear_program"}
    tol : float
        Largest loss that is tolerated, relative to the largest value (or to 1).

    Returns
    -------
    Plan
        With `values`, `action_values`, `policy`, `optimal_actions(state)` and `certificate`, whose
        `distance_bound` no loss of the policy exceeds, in any state.

    Notes
    -----
    A sweep is `O(n_probabilities)`. Without a discount, processes whose values do not exist are
    refused by the loop that is to blame.

    References
    ----------
    Puterman, Markov Decision Processes, 1994: sections 6.3 to 6.9, 7.2, 8.5.
    MacQueen, A modified dynamic programming method for Markovian decision problems, 1966.

    Examples
    --------
    >>> from novum.reinforcement import GridWorld
    >>> plan = solve(GridWorld.notes().process)
    >>> round(plan.value((1, 1)), 3), plan.policy[(1, 1)]
    (0.705, 'up')
    >>> print(plan.draw())
     0.812  0.868  0.918   +1
       →      →      →
     0.762   ███   0.660   -1
       ↑             ↑
     0.705  0.655  0.611  0.388
       ↑      ←      ←      ←
    """
    watch = Stopwatch()
    if method not in METHODS:
        raise InputError(f"A method is one of {listed(METHODS)}; got {label_text(method)}.")
    process = getattr(process, "process", process)
    if not isinstance(process, MarkovDecisionProcess):
        raise InputError(
            f"A plan is made for a MarkovDecisionProcess or a GridWorld, got {label_text(process)}."
        )
    if not tol > 0:
        raise InputError(f"tol is a number above 0, got {label_text(tol)}.")
    with one_blas_thread():
        if horizon is not None:
            return backward_induction(process, horizon)
        if process.discount == 1:
            plan = _without_discount(process, method, tol, watch)
        else:
            plan = _discounted(process, method, tol, watch)
    warn_if_stopped(plan.certificate, "solve")
    return plan


# --- With a discount ------------------------------------------------------------------------------


def _discounted(process: MarkovDecisionProcess, method: str, tol: float, watch: Stopwatch) -> Plan:
    pairs, discount = process.pairs, process.discount
    solution, how = _by_method(pairs, discount, method, tol)
    bound = loss_bound(pairs, discount, solution.values, solution.chosen)
    if method == "auto" and bound.loss > max(tol * _scale(bound.values), bound.rounding):
        # What a method stopped at was not enough; exact values of its policy go on from there.
        better = improve(pairs, discount, solution.chosen)
        if better is not None:
            solution, how = better, f"{how}, then policy iteration"
            bound = loss_bound(pairs, discount, solution.values, solution.chosen)
    certificate = _certificate(bound, solution, how, tol, watch)
    policy = policy_of_pairs(process, solution.chosen)
    return Plan(process, bound.values, bound.action_values, policy, certificate)


def _by_method(pairs: Pairs, discount: float, method: str, tol: float) -> tuple[Approximation, str]:
    if method == "auto":
        return _auto(pairs, discount, tol)
    name = method.replace("_", " ")
    if method == "value_iteration":
        return steps.successive(pairs, discount, tol), name
    if method == "modified_policy_iteration":
        own = steps.successive(pairs, discount, tol, evaluations=steps.EVALUATIONS)
        return own, name
    if method == "gauss_seidel":
        return sweep_components(pairs, discount, tol), "Gauss-Seidel along components"
    if method == "linear_program":
        return by_linear_program(pairs, discount), name
    solution = improve(pairs, discount, first_policy(pairs))
    assert solution is not None, "with a discount every policy has values"
    return solution, name


def _auto(pairs: Pairs, discount: float, tol: float) -> tuple[Approximation, str]:
    if pairs.n_states <= FEW_STATES:
        solution = improve(pairs, discount, first_policy(pairs))
        assert solution is not None
        return solution, "policy iteration"
    give_up = _watching(pairs)
    started = steps.successive(pairs, discount, tol, evaluations=steps.EVALUATIONS, give_up=give_up)
    if started.is_done:
        return started, "modified policy iteration, stopped by the span"
    if pairs.is_dense:
        solution = improve(pairs, discount, started.chosen)
        assert solution is not None
        return solution, "modified policy iteration, then policy iteration"
    if pairs.n_states <= SPARSE_SYSTEM:
        solution = improve_by_sweeps(pairs, discount, started.chosen)
        return solution, "policy iteration with sweeps, after a try of modified policy iteration"
    # The first values come too low or too high by what all states share; better from zero.
    solution = sweep_components(pairs, discount, tol, most_cells=PATIENCE)
    how = "Gauss-Seidel along components, after a try of modified policy iteration"
    if not solution.is_done:
        solution = improve_by_sweeps(pairs, discount, solution.chosen)
        how += ", and policy iteration with sweeps at last"
    return solution, how


def _watching(pairs: Pairs) -> Callable[[steps.Pace], bool]:
    """Whether another method would end sooner than the one whose pace is shown."""
    n = pairs.n_states
    if pairs.is_dense:
        # A sweep reads all cells from memory; elimination does some ten operations in that time,
        # for the few policies that are left to try.
        worth = 3 * 0.7 * n**3 / (10.0 * pairs.rows.size)
    else:
        # Renumbering, and a few dozen sweeps where values travel along the order.
        worth = 15.0
    # Work is counted, not timed: the same process takes the same way on every machine.
    return lambda pace: pace.sweeps_left > 1.5 * worth + 2


# --- Without a discount ---------------------------------------------------------------------------


def _without_discount(
    process: MarkovDecisionProcess, method: str, tol: float, watch: Stopwatch
) -> Plan:
    merged = merge_free_loops(process.pairs, process.states)
    pairs = merged.pairs
    start, _ = ending_policy(pairs)
    how = "policy iteration"
    solution: Approximation | None = None
    if method in ("value_iteration", "modified_policy_iteration"):
        # Bounds by the span need a discount; sweeps go on until they change nothing.
        solution, how = steps.successive(pairs, 1.0, 1e-3 * tol), "value iteration"
    elif method == "linear_program":
        solution, how = by_linear_program(pairs, 1.0), "linear program"
    elif method == "gauss_seidel" or (method == "auto" and pairs.n_states > FEW_STATES):
        solution = sweep_components(pairs, 1.0, 1e-2 * tol, most_cells=PATIENCE)
        how = "Gauss-Seidel along components"
    bound = None
    if solution is not None:
        bound = loss_bound(pairs, 1.0, solution.values, solution.chosen)
        if bound.loss > max(tol * _scale(solution.values), bound.rounding):
            solution, how = None, f"{how}, then policy iteration"
    if solution is None or bound is None:
        solution = improve(pairs, 1.0, start)
        if solution is None:
            raise InputError(
                "The equations of a policy that ends are singular in double precision: some state "
                "is left with a probability below about 1e-15. Give the process a discount below 1."
            )
        bound = loss_bound(pairs, 1.0, solution.values, solution.chosen)
    certificate = _certificate(bound, solution, how, tol, watch)
    policy = policy_of_pairs(process, merged.back(process.pairs, solution.chosen))
    values = solution.values if not math.isfinite(bound.loss) else bound.values
    whole = values[merged.block]
    pair_values = process.pairs.reward + process.pairs.expected(whole)
    return Plan(process, whole, pair_values, policy, certificate)


# --- What is proved -------------------------------------------------------------------------------


def _scale(values: Floats) -> float:
    finite = values[np.isfinite(values)]
    return max(float(np.abs(finite).max(initial=0.0)), 1.0)


def _half_width(bound: LossBound) -> float:
    """How far the returned values are from the best ones at most."""
    return 0.5 * float((bound.upper - bound.lower).max())


def _certificate(
    bound: LossBound, solution: Approximation, how: str, tol: float, watch: Stopwatch
) -> Certificate:
    scale = _scale(solution.values)
    tolerated = tol * scale
    if bound.loss == 0:
        verdict = Verdict.PROVED
    elif bound.loss <= tolerated:
        verdict = Verdict.WITHIN_TOLERANCE
    elif bound.loss <= 4 * bound.rounding:
        verdict = Verdict.PROVED
    else:
        verdict = Verdict.STOPPED_EARLY
    return Certificate(
        objective="loss of the policy against the best one",
        verdict=verdict,
        gap=bound.loss,
        distance_bound=bound.loss,
        residual=bound.residual,
        iterations=solution.iterations,
        trace=solution.trace[:1000],
        details={
            "tol": tolerated,
            "method": how,
            "values_within": _half_width(bound),
            "largest_value": scale,
        },
        seconds=watch.seconds,
    )
