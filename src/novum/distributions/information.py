"""Entropy, divergence and mutual information of laws, tables and probability vectors.

    entropy               H(p)     = - sum p log p
    cross-entropy         H(p, q)  = - sum p log q = H(p) + D(p | q)
    divergence            D(p | q) = sum p log(p / q)  >= 0, zero iff p = q
    conditional entropy   H(A | B) = H(A, B) - H(B)
    mutual information    I(A; B)  = H(A) + H(B) - H(A, B) = D(P(a, b) | P(a) P(b))

with `0 log 0 = 0`. For continuous laws sums are integrals, and entropies may be negative. The unit
is the nat everywhere, here, in `law.entropy` and `law.kl` and in the estimates from samples, as
densities and likelihoods have natural logarithms; `base=2` gives bits. Quantities that cannot be
negative are computed from terms that cannot be, so that independence gives exactly 0 up to the
rounding of the cells.

A closed form is used where the law has one; otherwise the integral or sum is taken numerically
(`information_integrals`), with a warning if fewer than 8 digits are certain.

References
----------
Cover and Thomas, "Elements of Information Theory", 2006, ch. 2 and 8.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from novum.core.errors import InputError
from novum.distributions.joint_table import JointTable
from novum.distributions.joint_table_states import names_of
from novum.numerics import Floats

Names = str | int | Iterable[str] | Iterable[int]
Source = Any

_SUM_TOLERANCE = 1e-6
_TINY = 2.0**-1022


# --- Entropy --------------------------------------------------------------------------------------


def entropy(
    source: Source, of: Names | None = None, *, given: Names | None = None, base: float = math.e
) -> float:
    """Entropy of a distribution, or conditional entropy of some of its variables, in nats.

    Parameters
    ----------
    source : probabilities, JointTable or law
        An array of probabilities of any shape is the distribution of one variable.
    of : names of variables of a table, or indices of a joint law
        All by default: the joint entropy.
    given : names or indices
        `H(of | given)`.
    base : float
        Of the logarithm: `math.e` for nats, 2 for bits, any other above 0 but 1.

    Examples
    --------
    >>> entropy([0.5, 0.25, 0.25], base=2)
    1.5
    >>> table = JointTable([[0.5, 0.0], [0.25, 0.25]], ["a", "b"], [(0, 1), (0, 1)])
    >>> round(entropy(table, "b", given="a", base=2), 12)
    0.5
    >>> from novum.distributions import Normal
    >>> entropy(Normal(0.0, 1.0)) == Normal(0.0, 1.0).entropy
    True
    """
    unit = unit_of(base)
    if isinstance(source, JointTable):
        wanted = source.names if of is None and given is None else _names(of)
        known = _names(given)
        if not wanted:
            wanted = tuple(name for name in source.names if name not in known)
        return _conditional_entropy(source, wanted, known) / unit
    if is_law(source):
        return _law_entropy(source, of, given) / unit
    _refuse_parts(of, given)
    return _entropy(probabilities_of(source)) / unit


def perplexity(source: Source, base: float = math.e) -> float:
    """`base^H`: how many equally likely states are as uncertain. It does not depend on the base.

    >>> round(perplexity([0.25] * 4), 12)
    4.0
    """
    return float(base ** entropy(source, base=base))


def cross_entropy(p: Source, q: Source, base: float = math.e) -> float:
    """`- sum p log q` in nats: mean code length of states from `p` in a code made for `q`.

    Infinite where `q` calls impossible what `p` does not. Tables are matched by names and states.

    Examples
    --------
    >>> cross_entropy([0.5, 0.5], [0.75, 0.25], base=2) == -0.5 * math.log2(0.75 * 0.25)
    True
    """
    unit = unit_of(base)
    if is_law(p) and is_law(q):
        if hasattr(p, "kl") and isinstance(q, type(p)):
            # An infinite divergence stays infinite, whatever the entropy.
            return (_law_entropy(p, None, None) + float(p.kl(q))) / unit
        from novum.distributions.information_integrals import mean_under

        return -mean_under(p, q.log_density, "the cross-entropy") / unit
    first, second = _matched(p, q)
    # Where p is 0 nothing is lost, also if q is 0 there.
    terms = np.where(first > 0, special.xlogy(first, second), 0.0)
    return -math.fsum(terms.ravel()) / unit if np.isfinite(terms).all() else math.inf


def kl_divergence(p: Source, q: Source, base: float = math.e) -> float:
    """`sum p log(p / q)` in nats: what a code made for `q` costs beyond the entropy of `p`.

    Examples
    --------
    >>> kl_divergence([0.5, 0.5], [0.5, 0.5])
    0.0
    >>> kl_divergence([0.5, 0.5], [1.0, 0.0])
    inf
    """
    unit = unit_of(base)
    if is_law(p) and is_law(q):
        return _law_divergence(p, q) / unit
    return _divergence(*_matched(p, q)) / unit


def mutual_information(
    source: Source,
    a: Names | None = None,
    b: Names | None = None,
    *,
    given: Names | None = None,
    base: float = math.e,
) -> float:
    """`I(A; B)` or `I(A; B | C)` in nats: how much knowing one tells about the other.

    Parameters
    ----------
    source : JointTable, array of two axes, or joint law with `marginal`
    a, b : names of a table or indices of a law
        May be left out for two variables.
    given : names or indices

    Examples
    --------
    >>> mutual_information([[0.5, 0.0], [0.0, 0.5]], base=2)
    1.0
    >>> mutual_information([[0.25, 0.25], [0.25, 0.25]])
    0.0
    """
    unit = unit_of(base)
    if is_law(source):
        return _law_information(source, _indices(a), _indices(b), _indices(given)) / unit
    if not isinstance(source, JointTable):
        _refuse_parts(a, b, given)
        cells = probabilities_of(source)
        if cells.ndim != 2:
            raise InputError(
                f"Mutual information of an array is between its two axes; it has {cells.ndim}. "
                "Pass a JointTable and name the variables."
            )
        return _information(cells[None]) / unit
    left, right, known = _names(a), _names(b), _names(given)
    if not left and not right and len(source.names) == 2:
        left, right = (source.names[0],), (source.names[1],)
    if not left or not right:
        raise InputError("Mutual information is between two (sets of) variables: name a and b.")
    part = source.marginal(*known, *left, *right)
    sizes = [math.prod(len(source.space.axis(n).states) for n in group) for group in (left, right)]
    return _information(part.probabilities.reshape(-1, *sizes)) / unit


# --- On arrays, in nats ---------------------------------------------------------------------------


def _entropy(p: Floats) -> float:
    return max(0.0, math.fsum(special.entr(p).ravel()))


def _divergence(p: Floats, q: Floats) -> float:
    # p log(p/q) - p + q is never negative, so small divergences keep their digits.
    terms = special.kl_div(p, q)
    if not np.isfinite(terms).all():
        return math.inf
    return max(0.0, math.fsum(terms.ravel()))


def _information(cells: Floats) -> float:
    """`sum P(a, b, c) log [P(a, b, c) P(c) / (P(a, c) P(b, c))]` over axes (c, a, b)."""
    context = cells.sum(axis=(1, 2), keepdims=True)
    rows, columns = cells.sum(axis=2, keepdims=True), cells.sum(axis=1, keepdims=True)
    shares = np.divide(rows, context, out=np.zeros_like(rows), where=context > 0)
    # A product that underflows must not make a possible cell impossible; what it adds is nothing.
    product = np.where(cells > 0, np.maximum(shares * columns, _TINY), shares * columns)
    return _divergence(cells, product)


def _conditional_entropy(table: JointTable, of: tuple[str, ...], given: tuple[str, ...]) -> float:
    if not given:
        return _entropy(table.marginal(*of).probabilities)
    both = table.marginal(*given, *of).probabilities
    known = both.sum(axis=tuple(range(len(given), both.ndim)), keepdims=True)
    # Each term -P(a, b) log P(a | b) is at least 0.
    shares = np.divide(both, known, out=np.ones_like(both), where=known > 0)
    return max(0.0, -math.fsum(special.xlogy(both, np.where(both > 0, shares, 1.0)).ravel()))


# --- On laws, in nats -----------------------------------------------------------------------------


def is_law(source: object) -> bool:
    """Whether an object is a law: it has a density that can be asked for."""
    return hasattr(source, "log_density")


def _law_entropy(law: Any, of: Names | None, given: Names | None) -> float:
    if given is not None:
        known = _indices(given)
        wanted = _indices(of)
        if not wanted:
            raise InputError("Conditional entropy of a law needs the indices of both parts.")
        if _fills_simplex(law, (*wanted, *known)):
            return -math.inf
        return _part_entropy(law, (*wanted, *known)) - _part_entropy(law, known)
    if of is not None:
        return _part_entropy(law, _indices(of))
    if hasattr(law, "entropy"):
        return float(law.entropy)
    from novum.distributions.information_integrals import mean_under

    return -mean_under(law, law.log_density, "the entropy")


def _part_entropy(law: Any, indices: tuple[int, ...]) -> float:
    if not hasattr(law, "marginal"):
        raise InputError(
            f"{type(law).__name__} has no marginals, so its parts have no entropy here."
        )
    return _law_entropy(law.marginal(list(indices)), None, None)


def _law_divergence(p: Any, q: Any) -> float:
    if hasattr(p, "kl") and isinstance(q, type(p)):
        return float(p.kl(q))
    from novum.distributions.information_integrals import mean_under

    def gain(x: Any) -> Floats:
        return np.asarray(p.log_density(x) - q.log_density(x))

    return max(0.0, mean_under(p, gain, "the divergence"))


def _law_information(
    law: Any, a: tuple[int, ...], b: tuple[int, ...], given: tuple[int, ...]
) -> float:
    if not a or not b:
        raise InputError("Mutual information of a law is between two sets of indices: a and b.")
    parts = (*a, *b, *given)
    if len(set(parts)) != len(parts):
        raise InputError(f"The index sets of a mutual information overlap: {parts}.")
    if _fills_simplex(law, parts):
        return math.inf
    joint, left, right = (_part_entropy(law, part) for part in (parts, (*a, *given), (*b, *given)))
    context = _part_entropy(law, given) if given else 0.0
    return max(0.0, left + right - joint - context)


def _fills_simplex(law: Any, parts: tuple[int, ...]) -> bool:
    """Whether continuous shares that sum to one are all named: then each fixes the others."""
    from novum.distributions.multivariate.dirichlet import Dirichlet

    return isinstance(law, Dirichlet) and len(parts) == law.n_coordinates


# --- Checks ---------------------------------------------------------------------------------------


def probabilities_of(source: ArrayLike) -> Floats:
    """An array of probabilities: at least 0, sum one within 1e-6."""
    p = np.asarray(source, float)
    if not p.size or not np.all(p >= 0):
        worst = p.min() if p.size else None
        raise InputError(f"Probabilities are numbers of at least 0; their smallest is {worst}.")
    total = float(p.sum())
    if not abs(total - 1) <= _SUM_TOLERANCE:
        raise InputError(
            f"Probabilities sum to one, these to {total:g}. Divide counts by their sum, or use "
            "`estimate_entropy` for a sample."
        )
    return p


def _matched(p: Source, q: Source) -> tuple[Floats, Floats]:
    """Two distributions over the same states, cell by cell."""
    if is_law(p) or is_law(q):
        raise InputError("A law is compared with a law, a table with a table.")
    if isinstance(p, JointTable) != isinstance(q, JointTable):
        raise InputError("A table is compared with a table, an array with an array.")
    if isinstance(p, JointTable):
        if set(p.names) != set(q.names):
            raise InputError(
                f"The tables have other variables: {', '.join(p.names)} and {', '.join(q.names)}."
            )
        turned = q.marginal(*p.names)
        cells = turned.probabilities
        for place, (mine, theirs) in enumerate(zip(p.space, turned.space, strict=True)):
            if set(mine.positions) != set(theirs.positions):
                raise InputError(f"The tables have other states of {mine.name!r}.")
            cells = np.take(cells, [theirs.position(s) for s in mine.states], axis=place)
        return p.probabilities, cells
    first, second = probabilities_of(p), probabilities_of(q)
    if first.shape != second.shape:
        raise InputError(
            f"Both distributions need the same states; shapes are {first.shape}, {second.shape}."
        )
    return first, second


def unit_of(base: float) -> float:
    """Nats in one unit of the base."""
    if not (base > 0 and base != 1 and math.isfinite(base)):
        raise InputError(f"The base of a logarithm is above 0 and not 1, got {base!r}.")
    return math.log(base)


def _names(names: Any) -> tuple[str, ...]:
    return () if names is None else names_of(names)


def _indices(indices: Any) -> tuple[int, ...]:
    if indices is None:
        return ()
    return (int(indices),) if np.ndim(indices) == 0 else tuple(int(i) for i in indices)


def _refuse_parts(*parts: object) -> None:
    if any(part is not None for part in parts):
        raise InputError(
            "An array has no named variables. Pass a JointTable to name some, or a joint law."
        )
