"""What is known about a classifier around a classifier.

Its own part (a map, a threshold) rests on what the inner classifiers say, so it can claim no more
than the weakest of them. A classifier without a certificate claims nothing beyond having ended, and
counts as `local`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from novum.core.learners import Certificate, Verdict

_WEAKER = list(Verdict)


def certify(
    objective: str,
    own: Verdict,
    members: Sequence[Any],
    *,
    value: float | None = None,
    seconds: float | None = None,
    claim: str | None = None,
) -> Certificate:
    """The certificate of a fit that rests on fitted members.

    Parameters
    ----------
    objective : str
        What the fit itself optimized.
    own : Verdict
        What it can claim by itself.
    members : sequence of fitted estimators
    value : float, optional
        Of the objective.
    seconds : float, optional
    claim : str, optional
        What is proved, in words, where that is no optimum.

    Examples
    --------
    >>> str(certify("log loss", Verdict.PROVED, [object()]).verdict)
    'local'
    """
    certificates = [getattr(member, "certificate_", None) for member in members]
    verdicts = [
        each.verdict if isinstance(each, Certificate) else Verdict.LOCAL for each in certificates
    ]
    weakest = max([own, *verdicts], key=_WEAKER.index)
    without = sum(not isinstance(each, Certificate) for each in certificates)
    details: dict[str, Any] = {"members": len(certificates), "own_verdict": str(own)}
    if claim is not None:
        details["claim"] = claim
    if without:
        details["members_without_certificate"] = without
    return Certificate(
        objective=objective, verdict=weakest, value=value, details=details, seconds=seconds
    )


def kept_invariances(estimator: Any, *, folds: bool) -> tuple[str, ...]:
    """What a fit does not depend on; folds follow the order and the number of the rows.

    Examples
    --------
    >>> from novum.bayes import GaussianNB
    >>> kept_invariances(GaussianNB(), folds=True)
    ('shift', 'column_scale')
    """
    known = tuple(getattr(estimator, "invariances", ()))
    if not folds:
        return known
    return tuple(name for name in known if name not in ("row_order", "duplication"))
