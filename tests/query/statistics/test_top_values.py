"""The most frequent values: what they are chosen from."""

import pytest
from tests.query.planned import ref
from tests.query.recipes import lowered

from sfumato.errors import NotPrivateError, ParameterError
from sfumato.query.statistics.recipes import TopCells
from sfumato.query.statistics.top_values import TopValues


def test_the_most_frequent_are_of_public_values():
    made = lowered(TopValues(ref("sex"), 2))
    (component,) = made.components
    assert isinstance(component, TopCells)
    assert (component.k, component.statement.cell.values) == (2, ("f", "m"))
    assert [(o.name, o.coordinate, o.values) for o in made.outputs((0,))] == [
        ("x_1", 0, ("f", "m")),
        ("x_2", 1, ("f", "m")),
    ]
    assert lowered(TopValues(ref("smokes"))).components[0].statement.cell.values == (False, True)


def test_private_values_or_too_few_have_no_most_frequent():
    with pytest.raises(NotPrivateError, match="values = "):
        lowered(TopValues(ref("town")))
    with pytest.raises(ParameterError, match="at most 2"):
        lowered(TopValues(ref("sex"), 3))
