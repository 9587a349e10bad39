"""Vectors of sums: what they are made of."""

from fractions import Fraction

from tests.query.recipes import AGE, PAY, lowered

from sfumato.query.statistics.vectors import VectorSum


def test_a_vector_of_sums_is_one_component_with_a_column_each():
    made = lowered(VectorSum((AGE, PAY)))
    (component,) = made.components
    assert len(component.measures) == 2
    assert [(o.name, o.coordinate, o.resolution, o.is_whole) for o in made.outputs((5,))] == [
        ("x_1", 0, 1, True), ("x_2", 1, Fraction("0.01"), False),
    ]  # fmt: skip
