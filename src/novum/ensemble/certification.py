"""What is known about a model made of models.

The members are fitted one by one, so that together they minimize the separable objective

    F(h_1, ..., h_M) = sum_m w_m f_m(h_m) / sum_m w_m,

and its gap is the same mean of the members' gaps. What an ensemble can claim is therefore what the
weakest of its members can claim. A member that carries no certificate claims nothing beyond having
ended, and counts as `local`; the details name such members.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from novum.core.learners import Certificate, Verdict

_WEAKER = list(Verdict)


def certify_members(
    members: Sequence[Any],
    what: str,
    *,
    names: Sequence[str] | None = None,
    weights: Any = None,
    seconds: float | None = None,
) -> Certificate:
    """The certificate of an ensemble.

    Parameters
    ----------
    members : sequence of fitted estimators
    what : str
        What the ensemble does with them, such as `"majority of 3 members"`.
    names : sequence of str, optional
        Of the members, for the details.
    weights : array-like, optional
        Votes of the members.
    seconds : float, optional

    Examples
    --------
    >>> from novum.linear import LinearRegression
    >>> member = LinearRegression().fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 1.0])
    >>> found = certify_members([member, member], "mean of 2 members")
    >>> str(found.verdict), round(found.value, 4)
    ('proved', 0.1667)
    """
    certificates = [getattr(member, "certificate_", None) for member in members]
    known = [each for each in certificates if isinstance(each, Certificate)]
    verdicts = [each.verdict if isinstance(each, Certificate) else None for each in certificates]
    return Certificate(
        objective=_objective(what, certificates),
        verdict=weakest(verdict or Verdict.LOCAL for verdict in verdicts),
        value=_mean([each.value for each in known], weights) if _alike(certificates) else None,
        gap=_mean([each.gap for each in known], weights) if _alike(certificates) else None,
        details=_details(verdicts, names),
        seconds=seconds,
    )


def certify_stack(
    members: Sequence[Any], final: Any, *, names: Sequence[str], seconds: float | None = None
) -> Certificate:
    """The certificate of a learner trained on the predictions of others: that of its own problem.

    The verdict is the weakest of all, since the final learner takes its input from the members.
    """
    whole = certify_members([*members, final], "stacking", names=[*names, "final_estimator"])
    own = getattr(final, "certificate_", None)
    if not isinstance(own, Certificate):
        return Certificate(
            objective=f"that of {type(final).__name__}, on cross-fitted predictions",
            verdict=whole.verdict,
            details=whole.details,
            seconds=seconds,
        )
    return Certificate(
        objective=f"{own.objective}, on cross-fitted predictions",
        verdict=whole.verdict,
        value=own.value,
        primal=own.primal,
        dual=own.dual,
        lower_bound=own.lower_bound,
        gap=own.gap,
        residual=own.residual,
        details=whole.details,
        seconds=seconds,
    )


def weakest(verdicts: Any) -> Verdict:
    """The verdict that claims least.

    Examples
    --------
    >>> str(weakest([Verdict.PROVED, Verdict.LOCAL]))
    'local'
    """
    return _WEAKER[max(_WEAKER.index(verdict) for verdict in verdicts)]


def _objective(what: str, certificates: list[Any]) -> str:
    return f"{what}: mean of {certificates[0].objective}" if _alike(certificates) else what


def _alike(certificates: list[Any]) -> bool:
    """Whether all members minimize the same function, so that a mean of values has a meaning."""
    return all(isinstance(each, Certificate) for each in certificates) and (
        len({each.objective for each in certificates}) == 1
    )


def _mean(numbers: list[Any], weights: Any) -> float | None:
    if any(number is None or not np.isfinite(number) for number in numbers):
        return None
    return float(np.average(numbers, weights=weights))


def _details(verdicts: list[Any], names: Sequence[str] | None) -> dict[str, Any]:
    texts = ["without certificate" if verdict is None else str(verdict) for verdict in verdicts]
    if names is not None:
        pairs = zip(names, texts, strict=True)
        return {"members": len(texts), "verdicts": tuple(f"{name}: {text}" for name, text in pairs)}
    counted = sorted(Counter(texts).items())
    return {"members": len(texts), "verdicts": tuple(f"{count} {text}" for text, count in counted)}
