"""Which tier draws: a table once it pays, and never a draw too few."""

import numpy as np
import pytest

from sfumato.errors import ParameterError
from sfumato.noise.tables.supply import Supply


class Recorder:
    """A tier that notes what it is asked for."""

    def __init__(self):
        self.asked = []

    def draw(self, size):
        self.asked.append(size)
        return np.zeros(size, dtype=np.int64)

    def draw_one(self):
        self.asked.append(1)
        return 0


def supply():
    table, universal, built = Recorder(), Recorder(), []
    made = Supply(build=lambda: built.append(1) or table, universal=universal.draw, universal_one=universal.draw_one)
    return made, table, universal, built


def test_one_large_request_builds_the_table_at_once():
    made, table, universal, built = supply()
    made.draw(1_000_000)
    assert (table.asked, universal.asked, len(built)) == ([1_000_000], [], 1)


def test_small_requests_build_it_when_they_add_up():
    made, table, universal, built = supply()
    for _ in range(400):
        made.draw(100)
    assert len(universal.asked) + len(table.asked) == 400
    assert 200 < len(universal.asked) < 300
    assert len(built) == 1


def test_a_few_draws_are_made_one_by_one():
    made, table, universal, built = supply()
    assert made.draw(5).tolist() == [0] * 5
    assert (universal.asked, built) == ([1] * 5, [])
    made.draw(1_000_000)
    made.draw(3)
    assert table.asked == [1_000_000, 1, 1, 1]


@pytest.mark.parametrize("size", [0, 1, 8, 9, 1000, 500_000])
def test_it_gives_as_many_as_asked(size):
    drawn = supply()[0].draw(size)
    assert (len(drawn), drawn.dtype) == (size, np.int64)


def test_a_few_that_do_not_fit_are_python_integers():
    made = Supply(build=Recorder, universal=Recorder().draw, universal_one=lambda: 2**80)
    assert made.draw(2).tolist() == [2**80] * 2


def test_a_negative_size_is_refused():
    with pytest.raises(ParameterError, match="size = -1"):
        supply()[0].draw(-1)
