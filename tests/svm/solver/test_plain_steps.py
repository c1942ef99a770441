"""Plain steps: optimality of pairs, sums kept, gradient kept up to date."""

from __future__ import annotations

import numpy as np
import pytest

from novum.svm.solver.feasibility import feasible_start
from novum.svm.solver.plain_steps import plain_steps
from novum.svm.solver.reduction import reduced
from novum.svm.solver.rounds import with_slack
from novum.svm.solver.working_set import extremes
from tests.svm.quadratic_problems import MEMBERS, cloud, gaussian, member


@pytest.mark.parametrize("name", MEMBERS)
def test_steps_end_where_no_pair_violates(name: str) -> None:
    X, y, t = cloud(30, seed=6)
    problem = member(name, y, t)
    start = feasible_start(problem)
    reduction = reduced(problem, start)
    terms = reduction.terms
    rows = reduction.rows
    b, Q = start[reduction.order], gaussian(X)[np.ix_(rows, rows)]
    if not terms.is_grouped:
        terms, b, Q = with_slack(terms), np.append(b, 0.0), np.pad(Q, (0, 1))
    sums = [b[part].sum() for part in terms.segments]
    g = Q @ b + terms.linear
    value = b @ Q @ b / 2 + terms.linear @ b
    taken = plain_steps(Q, terms, b, g, 1e-8, 10**5)
    assert 0 < taken < 10**5
    assert extremes(terms, b, Q @ b + terms.linear).violation <= 1e-7
    np.testing.assert_allclose(g, Q @ b + terms.linear, atol=1e-9)
    assert [b[part].sum() for part in terms.segments] == pytest.approx(sums, abs=1e-12)
    assert b @ Q @ b / 2 + terms.linear @ b < value


def test_a_limit_of_steps_is_kept() -> None:
    X, y, t = cloud(30, seed=6)
    terms = reduced(member("classes", y, t), np.zeros(30)).terms
    b, g = np.zeros(30), terms.linear.copy()
    assert plain_steps(gaussian(X), terms, b, g, 0.0, 3) == 3
    assert 0 < np.count_nonzero(b) <= 6
