"""Registry: exact names, lazy imports, and additions that end with their block."""

import importlib
import subprocess
import sys

import pytest

from novum.core.decisions import WorkingPoint
from novum.core.errors import InputError
from novum.core.files import registry


class Mine:
    pass


def test_names_resolve_both_ways() -> None:
    assert registry.value("WorkingPoint") is WorkingPoint
    assert registry.name_of(WorkingPoint) == "WorkingPoint"


def test_every_target_is_there_under_its_name() -> None:
    for table, lookup in (
        (registry.ESTIMATORS, registry.estimator),
        (registry.VALUES, registry.value),
    ):
        for name, target in table.items():
            module, attribute = target.split(":")
            assert attribute in name
            cls = lookup(name)
            assert cls is getattr(importlib.import_module(module), attribute)
            assert registry.name_of(cls) == name


def test_names_of_the_two_tables_differ() -> None:
    assert not set(registry.ESTIMATORS) & set(registry.VALUES)


@pytest.mark.parametrize(
    "name",
    [
        "os.system",
        "builtins.eval",
        "novum.linear:Ridge",
        "novum.linear.Ridge",
        "Rіdge",  # a Cyrillic letter
        "Ridge ",
        "ridge",
        "Ridge\x00",
        "",
        "__class__",
    ],
)
def test_other_names_do_not_exist(name: str) -> None:
    with pytest.raises(InputError, match=r"not an estimator in Novum's .* has .*LinearReg"):
        registry.estimator(name)
    with pytest.raises(InputError, match="not a value in Novum's registry"):
        registry.value(name)


@pytest.mark.parametrize("name", [None, 3, ["Ridge"], {"Ridge": 1}])
def test_what_is_no_name_is_refused_as_such(name: object) -> None:
    with pytest.raises(InputError, match="not an estimator"):
        registry.estimator(name)  # type: ignore[arg-type]


def test_values_are_no_estimators() -> None:
    with pytest.raises(InputError, match="'WorkingPoint' is not an estimator"):
        registry.estimator("WorkingPoint")


def test_a_look_alike_is_shown_by_its_code() -> None:
    with pytest.raises(InputError, match=r"'R\\u0456dge'"):
        registry.estimator("Rіdge")


@pytest.mark.parametrize("module", ["elsewhere", "novum.core.decisions.working_point"])
def test_a_class_of_the_same_name_is_not_the_registered_one(module: str) -> None:
    impostor = type("WorkingPoint", (), {"__module__": module})
    assert registry.name_of(impostor) is None


def test_additions_end_with_their_block_even_after_an_error() -> None:
    def fail() -> None:
        with registry.registered(estimators={"Mine": Mine}):
            assert registry.estimator("Mine") is Mine
            assert registry.name_of(Mine) == "Mine"
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert registry.name_of(Mine) is None
    with pytest.raises(InputError):
        registry.estimator("Mine")


def test_additions_may_be_nested() -> None:
    with registry.registered(estimators={"Mine": Mine}), registry.registered(values={"Own": dict}):
        assert registry.estimator("Mine") is Mine
        assert registry.value("Own") is dict


@pytest.mark.parametrize(
    ("estimators", "values"),
    [({"Ridge": Mine}, {}), ({"Certificate": Mine}, {}), ({"Mine": Mine}, {"Mine": Mine})],
)
def test_a_known_name_cannot_be_redirected(
    estimators: dict[str, type], values: dict[str, type]
) -> None:
    with (
        pytest.raises(InputError, match="already has"),
        registry.registered(estimators=estimators, values=values),
    ):
        pass


def test_importing_the_registry_imports_no_learner() -> None:
    script = "import sys, novum.core.files.registry; print('novum.linear' in sys.modules)"
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert result.stdout.strip() == "False", result.stderr


def test_classes_of_one_name_have_names_of_their_own_in_files() -> None:
    from novum import bayes, distances, graphical, kernels

    pairs = [(bayes.MEstimate, graphical.MEstimate), (kernels.Precomputed, distances.Precomputed)]
    for one, other in pairs:
        assert registry.name_of(one) != registry.name_of(other)
        assert registry.value(str(registry.name_of(one))) is one
        assert registry.value(str(registry.name_of(other))) is other
