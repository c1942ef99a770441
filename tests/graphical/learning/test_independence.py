"""Tests of independence against SciPy, and PC on whole distributions."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2_contingency

from novum.core.errors import InputError
from novum.graphical import (
    PC,
    Constraints,
    independence_test,
    learn_structure,
    missing_dependence,
)
from tests.graphical.learning.learning_tables import (
    random_graph,
    random_network,
    sampled,
    whole_distribution,
)


@pytest.mark.parametrize(("statistic", "kind"), [("g2", "log-likelihood"), ("chi2", "pearson")])
def test_statistics_equal_scipy_by_stratum(statistic: str, kind: str) -> None:
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"a": rng.integers(0, 3, 300), "b": rng.integers(0, 2, 300)})
    rows["s"] = rng.integers(0, 3, 300)
    plain = independence_test(rows, "a", "b", statistic=statistic)
    expected = chi2_contingency(pd.crosstab(rows.a, rows.b), correction=False, lambda_=kind)
    assert plain.statistic == pytest.approx(expected.statistic)
    assert plain.freedom == expected.dof
    assert plain.p_value == pytest.approx(expected.pvalue)
    given = independence_test(rows, "a", "b", ["s"], statistic=statistic)
    parts = [
        chi2_contingency(pd.crosstab(part.a, part.b), correction=False, lambda_=kind)
        for _, part in rows.groupby("s")
    ]
    assert given.statistic == pytest.approx(sum(p.statistic for p in parts))
    assert given.freedom == sum(p.dof for p in parts)
    assert "given s" in repr(given)


def test_permutations_agree_with_the_distribution_where_counts_are_large() -> None:
    rng = np.random.default_rng(1)
    s = rng.integers(0, 2, 400)
    rows = {"a": (s + (rng.random(400) < 0.3)) % 2, "b": (s + (rng.random(400) < 0.3)) % 2, "s": s}
    usual = independence_test(rows, "a", "b", ["s"])
    shuffled = independence_test(rows, "a", "b", ["s"], permutations=500)
    assert shuffled.p_value == pytest.approx(usual.p_value, abs=0.1)
    assert independence_test(rows, "a", "b", permutations=200).p_value < 0.02


def test_pc_reaches_the_class_of_most_distributions() -> None:
    hits = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        graph = random_graph(rng, 5, 0.4)
        network = random_network(rng, graph, (2, 3, 2, 2, 3))
        learned = learn_structure(whole_distribution(network, 1e6), None, PC())
        hits += learned.dag.is_equivalent(graph)
    assert hits >= 15


def test_partial_correlations_are_those_of_residuals_and_pc_takes_numbers() -> None:
    rng = np.random.default_rng(0)
    a = rng.normal(size=400)
    b = a + rng.normal(size=400)
    c = b + 0.5 * rng.normal(size=400)
    d = rng.normal(size=400) + c
    rows = {"a": a, "b": b, "c": c, "d": d}
    test = independence_test(rows, "a", "c", ["b"], statistic="correlation")
    design = np.column_stack([np.ones(400), b])
    left = [x - design @ np.linalg.lstsq(design, x, rcond=None)[0] for x in (a, c)]
    r = float(np.corrcoef(left)[0, 1])
    assert test.statistic == pytest.approx(np.arctanh(r) * np.sqrt(396))
    assert test.freedom == 396
    learned = learn_structure(rows, search=PC(), numbers="normal")
    chain = {frozenset({"a", "b"}), frozenset({"b", "c"}), frozenset({"c", "d"})}
    assert learned.dag.skeleton == chain
    assert ("a", "c", ("b",)) in learned.certificate.details["separating_sets"]
    with pytest.raises(InputError, match="'k' has states"):
        independence_test({**rows, "k": ["p", "q"] * 200}, "a", "k", statistic="correlation")


def test_why_there_is_no_edge() -> None:
    rng = np.random.default_rng(0)
    a = rng.integers(0, 2, 3000)
    b = a ^ (rng.random(3000) < 0.2)
    c = b ^ (rng.random(3000) < 0.2)
    learned = learn_structure({"a": a, "b": b, "c": c}, None, PC())
    assert learned.dag.skeleton == {frozenset("ab"), frozenset("bc")}
    assert learned.certificate.details["separating_sets"] == (("a", "c", ("b",)),)
    assert "separating set" in learned.sentence


def test_the_order_of_columns_does_not_matter_for_the_skeleton() -> None:
    rng = np.random.default_rng(3)
    table = sampled(random_network(rng, random_graph(rng, 7), (2,) * 7), 400, 0)
    skeletons = {
        learn_structure(table.select(rng.permutation(table.names)), None, PC(0.05)).dag.skeleton
        for _ in range(6)
    }
    assert len(skeletons) == 1


def test_false_edges_are_as_rare_as_asked() -> None:
    """Three edges among twelve columns: the share of false ones over many tables."""
    shares, complete = [], []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        rows = {f"v{i}": rng.integers(0, 2, 400) for i in range(12)}
        true = {frozenset({f"v{2 * i}", f"v{2 * i + 1}"}) for i in range(3)}
        for a, b in map(sorted, true):
            rows[b] = rows[a] ^ (rng.random(400) < 0.25)
        learned = learn_structure(rows, None, PC(false_discovery=0.2))
        edges = learned.dag.skeleton
        shares.append(len(edges - true) / max(len(edges), 1))
        complete.append(true <= edges)
        level = float(learned.certificate.details["meaning"].rsplit(" ", 1)[1])
        assert level == pytest.approx(
            0.2 * len(edges) / (66 * sum(1 / i for i in range(1, 67))), rel=1e-2
        )
        assert edges == learn_structure(rows, None, PC(level)).dag.skeleton
    assert np.mean(shares) <= 0.2 + 3 * np.std(shares) / np.sqrt(60)
    assert all(complete)


def test_colliders_that_contradict_each_other_are_told() -> None:
    """Each column goes with the next alone, which no graph without hidden variables says."""
    law = np.eye(4) + 0.5 * (np.eye(4, k=1) + np.eye(4, k=-1))
    rows = np.random.default_rng(0).normal(size=(500, 4))
    rows -= rows.mean(axis=0)
    rows = (
        rows @ np.linalg.inv(np.linalg.cholesky(rows.T @ rows / 500)).T @ np.linalg.cholesky(law).T
    )
    learned = learn_structure(dict(zip("abcd", rows.T, strict=True)), search=PC(), numbers="normal")
    assert learned.certificate.details["conflicts"] == (("b", "c", "d"),)


def test_bad_input_is_one_sentence() -> None:
    rows = {"a": [0, 1], "b": [0, 1]}
    with pytest.raises(InputError, match="'g2' or 'chi2'"):
        PC(statistic="t")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="between 0 and 1"):
        PC(alpha=0.0)
    with pytest.raises(InputError, match="share of the edges"):
        PC(false_discovery=1.0)
    with pytest.raises(InputError, match="given others than these"):
        independence_test(rows, "a", "b", ["a"])
    with pytest.raises(InputError, match="kept apart"):
        learn_structure(rows, None, PC(), Constraints(required=[("a", "b")]))


def test_gaps_that_depend_on_another_column_are_listed() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 2, 500), rng.integers(0, 2, 500).astype(object)
    b[(a == 1) & (rng.random(500) < 0.5)] = None
    c = rng.integers(0, 2, 500).astype(object)
    c[rng.random(500) < 0.2] = None
    told = missing_dependence(pd.DataFrame({"a": a, "b": b, "c": c}))
    assert [(item.a, item.b) for item in told] == [("b is missing", "a")]
    assert missing_dependence({"a": [0, 1]}) == ()
