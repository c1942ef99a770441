"""Explanations: what each finding did, by definition."""

from __future__ import annotations

import math

import pytest

from novum.core.errors import InputError
from novum.graphical import BayesianNetwork, LikelihoodWeighting
from novum.graphical.models import explaining
from tests.graphical.textbook_networks import alarm, brute_posterior

BOTH = {"JohnCalls": "true", "MaryCalls": "true"}


def odds(probability: float) -> float:
    return probability / (1 - probability)


def test_findings_are_judged_alone_and_without() -> None:
    network = alarm()
    found = network.explain("Burglary", BOTH, state="true")
    assert found.prior == pytest.approx(0.001, rel=1e-12)
    after = brute_posterior(network, "Burglary", BOTH)[0][0]
    assert found.posterior == pytest.approx(after, rel=1e-12)
    for finding in found.findings:
        alone = brute_posterior(network, "Burglary", {finding.node: "true"})[0][0]
        other = "MaryCalls" if finding.node == "JohnCalls" else "JohnCalls"
        without = brute_posterior(network, "Burglary", {other: "true"})[0][0]
        assert finding.alone == pytest.approx(alone, rel=1e-12)
        assert finding.without == pytest.approx(without, rel=1e-12)
        assert finding.weight == pytest.approx(math.log2(odds(after) / odds(without)), rel=1e-10)
    # Mary calls by mistake more rarely, so her call weighs more.
    assert [f.node for f in found.findings] == ["MaryCalls", "JohnCalls"]
    assert found.steps[0] == found.prior
    assert found.steps[-1] == pytest.approx(found.posterior)
    assert len(found.steps) == 3


def test_independent_findings_add_their_bits() -> None:
    network = BayesianNetwork().add("ill", table=[0.01, 0.99])
    for name, ratio in (("x", 0.8), ("y", 0.4)):
        network = network.add(name, parents="ill", table=[[ratio, 1 - ratio], [0.1, 0.9]])
    found = network.explain("ill", {"x": "true", "y": "true"}, state="true")
    # Likelihood ratios of 8 and 4: three and two doublings.
    assert [f.weight for f in found.findings] == pytest.approx([3.0, 2.0], rel=1e-12)
    whole = math.log2(odds(found.posterior) / odds(found.prior))
    assert whole == pytest.approx(5.0, rel=1e-12)


def test_the_most_probable_state_is_explained_unless_one_is_named() -> None:
    found = alarm().explain("Burglary", BOTH)
    assert found.state == "false"
    assert found.findings[0].weight < 0
    text = repr(found)
    assert text.splitlines()[0] == ("Burglary = false: 0.999 before the evidence, 0.7158 after")
    assert "MaryCalls = true" in text
    assert ">MaryCalls = true</th>" in found._repr_html_()


def test_a_finding_that_decides_alone_has_infinite_weight() -> None:
    network = BayesianNetwork().add("a", table=[0.5, 0.5])
    network = network.add("b", parents="a", table=lambda a: a, states=["true", "false"])
    found = network.explain("a", {"b": True})
    assert (found.posterior, found.findings[0].weight) == (1.0, math.inf)
    assert found.findings[0].state == "true"
    assert "+inf" in repr(found)
    one = network.add("one", table=[1.0], states=["only"])
    assert one.explain("one", {"a": "true"}).findings[0].weight == 0.0


def test_wrong_explanations_are_refused_in_words() -> None:
    network = alarm()
    with pytest.raises(InputError, match="nothing to explain without evidence"):
        network.explain("Burglary", {})
    with pytest.raises(InputError, match="observed itself"):
        network.explain("JohnCalls", BOTH)
    with pytest.raises(InputError, match="did you mean 'Burglary'"):
        network.explain("Burglry", BOTH)
    with pytest.raises(InputError, match="has no state 'ture'"):
        network.explain("Burglary", BOTH, state="ture")
    with pytest.raises(InputError, match="given is a mapping"):
        network.explain("Burglary", ["JohnCalls"])  # type: ignore[arg-type]


def features(n: int) -> BayesianNetwork:
    """A class with features whose ratios of likelihoods differ."""
    network = BayesianNetwork().add("ill", table=[0.25, 0.75])
    for i in range(n):
        high, low = 0.5 + 0.3 * math.sin(i), 0.5 + 0.3 * math.cos(i)
        network = network.add(f"x{i}", parents="ill", table=[[high, 1 - high], [low, 1 - low]])
    return network


@pytest.mark.parametrize("n", [4, 300])
def test_many_findings_are_judged_at_once(n: int) -> None:
    network = features(n)
    known = {f"x{i}": "true" if i % 3 else "false" for i in range(n)}
    found = network.explain("ill", known, state="true")
    ratios = {}
    for name, state in known.items():
        i = int(name[1:])
        high, low = 0.5 + 0.3 * math.sin(i), 0.5 + 0.3 * math.cos(i)
        ratios[name] = math.log2(high / low if state == "true" else (1 - high) / (1 - low))
    prior = math.log2(1 / 3)

    def share(bits: float) -> float:
        return 1 / (1 + 2.0**-bits)

    total = math.fsum(ratios.values())
    assert found.posterior == pytest.approx(share(prior + total), rel=1e-11)
    assert sorted(f.node for f in found.findings) == sorted(known)
    for finding in found.findings:
        assert finding.state == known[finding.node]
        # Findings that are independent given the class weigh their ratios, whatever the others.
        assert finding.weight == pytest.approx(ratios[finding.node], rel=1e-9, abs=1e-11)
        assert finding.alone == pytest.approx(share(prior + ratios[finding.node]), rel=1e-11)
        without = share(prior + total - ratios[finding.node])
        assert finding.without == pytest.approx(without, rel=1e-11)
    arrived = [prior + math.fsum(list(ratios.values())[:m]) for m in range(n + 1)]
    assert found.steps == pytest.approx([share(bits) for bits in arrived], rel=1e-11)


def test_blocks_of_rows_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    network = features(5)
    known = {f"x{i}": "true" for i in range(5)}
    whole = network.explain("ill", known)
    monkeypatch.setattr(explaining, "_MOST_CELLS", 20)
    assert network.explain("ill", known) == whole


def test_odds_near_certainty_are_finite() -> None:
    network = BayesianNetwork().add("ill", table=[0.5, 0.5])
    for name in ("x", "y"):
        network = network.add(name, parents="ill", table=[[0.5, 0.5], [1e-150, 1.0]])
    network = network.add("z", table=[0.5, 0.5])
    found = network.explain("ill", {"x": "true", "y": "true", "z": "true"})
    assert found.posterior == 1.0
    bits = math.log2(0.5e150)
    assert [f.weight for f in found.findings] == pytest.approx([bits, bits, 0.0], rel=1e-12)
    assert found.findings[2].weight == 0.0


def test_approximate_engines_explain_too() -> None:
    engine = LikelihoodWeighting(20_000, random_state=0)
    found = alarm().explain("Burglary", BOTH, state="false", engine=engine)
    assert found.posterior == pytest.approx(0.7158, abs=0.1)
    # And say that they are.
    assert found.diagnosis is not None
    assert found.diagnosis.sentence.startswith("Likelihood weighting: 20000 weighted rows")
    assert repr(found).endswith(f"\n{found.diagnosis.sentence}")
    assert f"<p>{found.diagnosis.sentence}</p>" in found._repr_html_()
    exact = alarm().explain("Burglary", BOTH)
    assert exact.diagnosis is None
    assert exact._repr_html_().count("<p>") == 1
