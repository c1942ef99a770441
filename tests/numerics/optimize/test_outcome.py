"""Outcome: immutable, and its evidence is a certificate."""

import numpy as np
import pytest

from novum.core.learners import Certificate, Verdict
from novum.numerics.optimize import Outcome


def outcome(stopped_by: str, strong_convexity: float | None = None) -> Outcome:
    params, details = np.array([1.0, 2.0]), (("halvings", 2),)
    return Outcome(params, 3.0, 0.5, 4, stopped_by, (5.0, 3.0), 1e-3, strong_convexity, details)


def test_the_parameters_are_a_read_only_copy() -> None:
    params = np.zeros(2)
    result = Outcome(params, 0.0, 0.0, 0, "tol", (0.0,))
    params[0] = 9.0
    assert result.params[0] == 0.0
    with pytest.raises(ValueError, match="read-only"):
        result.params[0] = 1.0


@pytest.mark.parametrize(
    ("stopped_by", "strong_convexity", "verdict"),
    [
        ("tol", None, Verdict.LOCAL),
        ("rounding", 2.0, Verdict.WITHIN_TOLERANCE),
        ("max_iter", 2.0, Verdict.STOPPED_EARLY),
        ("callback", None, Verdict.STOPPED_EARLY),
    ],
)
def test_evidence_makes_a_certificate(
    stopped_by: str, strong_convexity: float | None, verdict: Verdict
) -> None:
    result = outcome(stopped_by, strong_convexity)
    certificate = Certificate(objective="f", **result.evidence())
    assert certificate.verdict is verdict
    assert certificate.converged is result.converged
    assert certificate.residual == 0.5
    assert certificate.trace == (5.0, 3.0)
    assert dict(certificate.details) == {"tol": 1e-3, "stopped_by": stopped_by, "halvings": 2}
    if strong_convexity is None:
        assert certificate.gap is None
        assert certificate.distance_bound is None
    else:
        # |g| / mu and |g|^2 / (2 mu)
        assert certificate.distance_bound == 0.25
        assert certificate.gap == 0.0625
