"""Functions of a class or of its values: which of the two they are given."""

from novum.kernels.parameters import class_or_value


class Ring:
    """Something with a setting."""

    radius = 1.0

    @class_or_value
    def scaled(given: "Ring | type[Ring]", factor: float = 1.0) -> float:  # noqa: N805
        """The radius."""
        return factor * given.radius


class Wide(Ring):
    """One with another default."""

    radius = 4.0


def test_a_value_comes_before_its_class() -> None:
    ring = Ring()
    ring.radius = 3.0
    assert (Ring.scaled(2.0), ring.scaled(2.0), ring.scaled(factor=1.0)) == (2.0, 6.0, 3.0)
    assert (Wide.scaled(), Wide().scaled()) == (4.0, 4.0)


def test_the_function_keeps_its_text() -> None:
    assert Ring.scaled.__doc__ == "The radius."
