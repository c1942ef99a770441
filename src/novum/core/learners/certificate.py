"""Certificate: what a fit can prove about its own result.

For a minimized objective with value f(w) at the returned w and any lower bound b of its minimum f*,

    0 <= f(w) - f* <= f(w) - b = gap,

so a gap states how far from optimal a result can be at most, without knowing the optimum. Primal
and dual problems give such a bound in every iteration (gap = primal - dual). Strong convexity with
modulus mu turns it into a bound on the parameters, |w - w*| <= sqrt(2 gap / mu), the
`distance_bound`. A method without a bound can still say that it stands still: `residual` is then
the size of what is zero at a stationary point, and the verdict is `local`.

A bound of a maximized objective lies above; its gap, bound - f(w), is then given as it is.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning as SklearnConvergenceWarning

from novum.display import Paragraph, Table, notebook
from novum.numerics import Floats


class ConvergenceWarning(SklearnConvergenceWarning):
    """A fit stopped before its optimum; the message says how far from it."""


# Values come from sums over up to 1e9 rows, so equal quantities agree to about 1e-9 of their size;
# below 1e-12 a difference of two objectives is rounding in any sensible unit.
ROUNDING_RELATIVE = 1e-9
ROUNDING_ABSOLUTE = 1e-12

Detail = str | float | int | bool | tuple["Detail", ...] | None


class Verdict(StrEnum):
    """What is known about the result, from strongest to none."""

    PROVED = "proved"
    WITHIN_TOLERANCE = "within tolerance"
    LOCAL = "local"
    STOPPED_EARLY = "stopped early"
    UNBOUNDED = "unbounded"
    INFEASIBLE = "infeasible"

    @property
    def converged(self) -> bool:
        """Whether a fit with this verdict ended because it was done."""
        return self in (Verdict.PROVED, Verdict.WITHIN_TOLERANCE, Verdict.LOCAL)


# --- Immutable details ----------------------------------------------------------------------------


class Details(Mapping[str, Detail]):
    """Read-only mapping from names to plain values; hashable, picklable, equal by content.

    Arrays and lists become tuples, NumPy scalars Python's numbers, and NaN becomes `None`, since
    what does not apply is `None` and a NaN would make a certificate unequal to its own copy.

    Examples
    --------
    >>> Details({"finals": [1.5, 2.0], "seed": 7})
    Details({'finals': (1.5, 2.0), 'seed': 7})
    """

    __slots__ = ("_items",)
    _items: dict[str, Detail]

    def __init__(self, items: Mapping[str, Any] | Iterable[tuple[str, Any]] = ()) -> None:
        frozen = {_checked_name(name): _frozen(value, name) for name, value in dict(items).items()}
        object.__setattr__(self, "_items", frozen)

    def __getitem__(self, name: str) -> Detail:
        return self._items[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __hash__(self) -> int:
        return hash(frozenset(self._items.items()))

    def __repr__(self) -> str:
        return f"Details({self._items!r})"

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"Details are read-only; {name!r} cannot be set.")

    def __reduce__(self) -> tuple[type[Details], tuple[dict[str, Detail]]]:
        return Details, (dict(self._items),)


def _checked_name(name: object) -> str:
    if not isinstance(name, str):
        raise ValueError(f"Names of certificate details are strings, got {name!r}.")
    return name


def _frozen(value: Any, name: str) -> Detail:
    if isinstance(value, (np.generic, np.ndarray)):
        value = value.tolist()
    if isinstance(value, float) and math.isnan(value):
        return None
    # A subclass such as an enum member is stored as the plain text that a file would give back.
    if isinstance(value, str):
        return str(value)
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, (tuple, list)):
        return tuple(_frozen(item, name) for item in value)
    raise ValueError(
        f"Certificate detail {name!r} is a {type(value).__name__}; details hold text, numbers, "
        "booleans, None and sequences of these. Store the numbers that matter instead."
    )


# --- The certificate ------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True, repr=False)
class Certificate:
    """What a fit reached, what it can prove, and what it cost.

    Only `objective` and `verdict` are required; what does not apply is `None`. `converged`, `gap`
    and `relative_gap` are derived when absent and must agree with the other fields when given.

    Parameters
    ----------
    objective : str
        Name of the minimized (or, without bounds, maximized) function.
    verdict : Verdict or its text
        What is known about the result.
    value : float
        Objective at the result.
    primal, dual : float
        Values of a primal point and of a dual one; `primal >= dual` up to rounding.
    lower_bound : float
        Proved lower bound of the minimum.
    gap : float
        `primal - dual`, or `value - lower_bound`; never negative.
    relative_gap : float
        The gap divided by the larger magnitude of the two values it is the difference of.
    distance_bound : float
        Proved bound of the distance from the returned parameters to the optimal ones.
    residual : float
        Size of what vanishes at a stationary point, such as the norm of the gradient.
    iterations : int
        Steps taken.
    converged : bool
        Whether the fit ended because it was done; follows from the verdict.
    trace : sequence of float, becomes a tuple
        Objective after each step.
    details : mapping, becomes `Details`
        Anything else worth keeping: `tol` or `relative_tol` (of the gap, both shown in the
        sentence), `stopped_by`, ranks, restarts; `claim` is the sentence where what is proved is
        no optimum.
    seconds : float
        Wall-clock time; takes no part in equality.

    Examples
    --------
    >>> Certificate(objective="squared error", verdict="within tolerance", primal=2.5, dual=2.0,
    ...             iterations=3, details={"tol": 0.5})
    Certificate of squared error
    optimal: the gap of 0.5 is within the tolerance 0.5
      primal        2.5
      dual          2
      gap           0.5 (relative 0.2)
      iterations    3
      verdict       within tolerance
      tol           0.5
    """

    objective: str
    verdict: Verdict
    value: float | None = None
    primal: float | None = None
    dual: float | None = None
    lower_bound: float | None = None
    gap: float | None = None
    relative_gap: float | None = None
    distance_bound: float | None = None
    residual: float | None = None
    iterations: int | None = None
    converged: bool | None = None
    trace: Sequence[float] | None = None
    details: Mapping[str, Any] = field(default_factory=Details)
    seconds: float | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        self._store("verdict", _checked_verdict(self.verdict))
        for name in _NUMBERS:
            value = getattr(self, name)
            if value is not None:
                self._store(name, _checked_number(name, value))
        self._store("iterations", _checked_iterations(self.iterations))
        self._store("trace", _checked_trace(self.trace))
        if not isinstance(self.details, Details):
            self._store("details", Details(self.details or {}))
        self._store("converged", _checked_converged(self.converged, self.verdict))
        self._store("gap", _checked_gap(self))
        self._store("relative_gap", _checked_relative_gap(self))

    def _store(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    # Plain values in a stored state, because skops knows neither enums nor our mapping.

    def __getstate__(self) -> dict[str, Any]:
        state = {entry.name: getattr(self, entry.name) for entry in fields(self)}
        return {**state, "verdict": self.verdict.value, "details": dict(self.details)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]

    @property
    def sentence(self) -> str:
        """The verdict in words, with the number it rests on; or what is claimed instead."""
        claim = self.details.get("claim")
        return _SENTENCES[self.verdict](self) if claim is None else str(claim)

    def __repr__(self) -> str:
        rows = _rows(self)
        width = max(max(len(name) for name, _ in rows), 12)
        lines = [f"  {name:<{width}}  {text}" for name, text in rows]
        return "\n".join([f"Certificate of {self.objective}", self.sentence, *lines])

    def _repr_html_(self) -> str:
        table = Table("", ["", ""], _rows(self))
        return notebook(Paragraph(f"{self.objective}, {self.sentence}"), table)


def warn_if_stopped(certificate: Certificate, name: str, *, stacklevel: int = 3) -> None:
    """Warn when a fit ended before it was done: how far it may be from the optimum, what to do.

    Examples
    --------
    >>> warn_if_stopped(Certificate(objective="inertia", verdict="local"), "KMeans")
    """
    if certificate.converged:
        return
    reasons = certificate.details.get("stopped_by")
    # Several runs end for several reasons; that of one which did not end well is told.
    known = [
        _ADVICE[r] for r in (reasons if isinstance(reasons, tuple) else (reasons,)) if r in _ADVICE
    ]
    advice = known[0] if known else _GENERAL_ADVICE
    if certificate.verdict is not Verdict.STOPPED_EARLY:
        advice = "Check the data and the constraints, or add a penalty."
    warnings.warn(
        f"{name}: {certificate.sentence}. {advice}", ConvergenceWarning, stacklevel=stacklevel
    )


class Stopwatch:
    """Wall-clock seconds since it was made.

    Examples
    --------
    >>> clock = Stopwatch()
    >>> clock.seconds >= 0
    True
    """

    def __init__(self) -> None:
        self._start = time.perf_counter()

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self._start


# --- Text -----------------------------------------------------------------------------------------


def _number(value: float) -> str:
    return f"{value:.6g}"


def _evidence(certificate: Certificate) -> str:
    """The strongest number known about how far from the optimum the result is, in words."""
    if certificate.gap is not None:
        return f"the gap is {_number(certificate.gap)}"
    if certificate.residual is not None:
        return f"the residual is {_number(certificate.residual)}"
    return ""


def _proved(certificate: Certificate) -> str:
    if certificate.gap:
        return f"optimal: the gap of {_number(certificate.gap)} is rounding"
    # Without any number nothing was searched for, or all members are proved.
    if all(getattr(certificate, name) is None for name in _NUMBERS if name != "seconds"):
        return "exact: nothing is left to optimize"
    return "optimal: proved"


def _within(certificate: Certificate) -> str:
    measures = (
        ("relative gap", certificate.relative_gap, "relative_tol"),
        ("gap", certificate.gap, "tol"),
        ("residual", certificate.residual, "tol"),
    )
    for label, amount, key in measures:
        tolerance = certificate.details.get(key)
        if amount is not None and isinstance(tolerance, (int, float)):
            return (
                f"optimal: the {label} of {_number(amount)} is within the tolerance "
                f"{_number(tolerance)}"
            )
    known = _evidence(certificate)
    return "optimal within the tolerance" + (f": {known}" if known else "")


def _local(certificate: Certificate) -> str:
    known = _evidence(certificate)
    return "a local optimum" + (f": {known}" if known else "; no bound is known")


def _stopped(certificate: Certificate) -> str:
    steps = "" if certificate.iterations is None else f" after {certificate.iterations} iterations"
    known = _evidence(certificate)
    by = ", by the deadline" if certificate.details.get("stopped_by") == "deadline" else ""
    return f"stopped early{by}{steps}" + (f": {known}" if known else "; no bound is known")


_SENTENCES = {
    Verdict.PROVED: _proved,
    Verdict.WITHIN_TOLERANCE: _within,
    Verdict.LOCAL: _local,
    Verdict.STOPPED_EARLY: _stopped,
    Verdict.UNBOUNDED: lambda _: "unbounded: the objective has no minimum",
    Verdict.INFEASIBLE: lambda _: "infeasible: no point satisfies the constraints",
}

_GENERAL_ADVICE = "Raise max_iter or loosen tol."
_ADVICE = {
    "precision": "No progress is possible in double precision; scale the columns or loosen tol.",
    "max_seconds": "Raise max_seconds or loosen tol.",
    "deadline": "Give it more time, or loosen tol.",
    "interrupt": "It was interrupted; fit again to continue to the optimum.",
    "no_gain": "Rows are left on the wrong side and passes gain no more: classes may overlap. Use "
    "LogisticRegression or LinearSVC, whose objectives have an optimum then.",
}


_SHOWN_ELSEWHERE = ("objective", "relative_gap", "converged", "details", "verdict", "seconds")


def _rows(certificate: Certificate) -> list[tuple[str, str]]:
    rows: list[tuple[str, str]] = []
    for name in (item.name for item in fields(certificate)):
        value = getattr(certificate, name)
        if value is None or name in _SHOWN_ELSEWHERE:
            continue
        rows.append((name.replace("_", " "), _row_text(certificate, name, value)))
    rows.append(("verdict", str(certificate.verdict)))
    details = certificate.details.items()
    rows.extend((name, _detail_text(value)) for name, value in details if name != "claim")
    if certificate.seconds is not None:
        rows.append(("seconds", f"{certificate.seconds:.3g}"))
    return rows


def _row_text(certificate: Certificate, name: str, value: Any) -> str:
    if name == "gap" and certificate.relative_gap is not None:
        return f"{_number(value)} (relative {_number(certificate.relative_gap)})"
    if name == "trace":
        if not value:
            return "empty"
        return f"{_number(value[0])} to {_number(value[-1])} in {len(value)} values"
    return value if isinstance(value, str) else _number(value)


def _detail_text(value: Detail) -> str:
    if isinstance(value, tuple):
        shown = [_detail_text(item) for item in value[:6]]
        return ", ".join([*shown, f"... ({len(value)})"] if len(value) > 6 else shown)
    if isinstance(value, float):
        return _number(value)
    return str(value)


# --- Checks ---------------------------------------------------------------------------------------

_NEVER_NEGATIVE = ("relative_gap", "distance_bound", "residual", "seconds")
_NUMBERS = ("value", "primal", "dual", "lower_bound", "gap", *_NEVER_NEGATIVE)


def _checked_verdict(verdict: Verdict | str) -> Verdict:
    try:
        return Verdict(verdict)
    except ValueError:
        known = ", ".join(Verdict)
        raise ValueError(f"{verdict!r} is not a verdict; choose one of: {known}.") from None


def _checked_number(name: str, value: float) -> float:
    number = float(value)
    if math.isnan(number) or (name in _NEVER_NEGATIVE and number < 0):
        wanted = "at least 0" if name in _NEVER_NEGATIVE else "not NaN"
        raise ValueError(f"The {name} of a certificate must be {wanted}, got {number}.")
    return number


def _checked_iterations(iterations: int | None) -> int | None:
    if iterations is None:
        return None
    if iterations != int(iterations) or iterations < 0:
        raise ValueError(f"The iterations of a certificate are a count, got {iterations!r}.")
    return int(iterations)


def _checked_trace(
    trace: Iterable[float] | Floats | None,
) -> tuple[float, ...] | None:
    if trace is None:
        return None
    values = tuple(float(value) for value in trace)
    bad = next((place for place, value in enumerate(values) if math.isnan(value)), None)
    if bad is not None:
        raise ValueError(f"The trace of a certificate holds NaN at step {bad}.")
    return values


def _checked_converged(converged: bool | None, verdict: Verdict) -> bool:
    if converged is not None and bool(converged) is not verdict.converged:
        raise ValueError(
            f"A certificate cannot say converged={bool(converged)} and {str(verdict)!r}; "
            "leave out converged, it follows from the verdict."
        )
    return verdict.converged


def _ends(certificate: Certificate) -> tuple[float, float] | None:
    """The two values whose difference is the gap."""
    if certificate.primal is not None and certificate.dual is not None:
        return certificate.primal, certificate.dual
    upper = certificate.value if certificate.primal is None else certificate.primal
    if upper is not None and certificate.lower_bound is not None:
        return upper, certificate.lower_bound
    return None


def _checked_gap(certificate: Certificate) -> float | None:
    ends = _ends(certificate)
    gap, scale = certificate.gap, abs(certificate.value or 0.0)
    if ends is not None:
        upper, lower = ends
        difference = 0.0 if upper == lower else upper - lower
        finite = [abs(end) for end in ends if math.isfinite(end)]
        scale = max(finite, default=0.0)
        gap = difference if gap is None else gap
        slack = ROUNDING_RELATIVE * scale + ROUNDING_ABSOLUTE
        if gap != difference and not abs(gap - difference) <= slack:
            raise ValueError(
                f"The gap {gap} of a certificate is not the difference {difference} of "
                f"{upper} and {lower}."
            )
    if gap is None:
        return None
    if gap < -(ROUNDING_RELATIVE * scale + ROUNDING_ABSOLUTE):
        raise ValueError(
            f"The gap of a certificate is {gap}, negative beyond rounding: the bound is wrong."
        )
    return max(gap, 0.0)


def _checked_relative_gap(certificate: Certificate) -> float | None:
    ends = _ends(certificate)
    if certificate.relative_gap is not None or ends is None or certificate.gap is None:
        return certificate.relative_gap
    if not certificate.gap:
        return 0.0
    size = max(abs(end) for end in ends)
    return certificate.gap / size if math.isfinite(size) and size > 0 else math.inf
