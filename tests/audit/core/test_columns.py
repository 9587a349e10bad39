"""What one output shows is the same, whatever others stand beside it."""

import random
from fractions import Fraction
from math import inf, nan

import numpy as np
import pytest

from sfumato.audit.core.columns import MISSING, columns, without_clocks
from sfumato.audit.core.reading import ANSWER, TYPE, WHOLE

RANDOM = random.Random(14)  # noqa: S311 # makes test data
LEAVES = (
    lambda: RANDOM.randrange(-3, 3),
    lambda: 2**60 + RANDOM.randrange(9),
    lambda: 2**70 + RANDOM.randrange(9),
    RANDOM.random,
    lambda: RANDOM.choice((0.0, -0.0, nan, inf, 1.0, 1e300, 0.1)),
    lambda: Fraction(RANDOM.randrange(9), 7),
    lambda: RANDOM.choice((None, True, "text", "", 10**5000, np.float32(0.1), np.int8(3))),
)


def leaf():
    return RANDOM.choice(LEAVES)()


def anything(depth=2):
    """A random output: a number, something else, a list, tuple or mapping of some, or an array."""
    kind = RANDOM.randrange(8) if depth else 0
    size = RANDOM.choice((0, 1, 2, 3, 10, 64, 300)) if depth == 2 else 2
    match kind:
        case 0 | 1 | 2:
            return leaf()
        case 3:
            return [anything(depth - 1) for _ in range(size)]
        case 4:
            return tuple(anything(depth - 1) for _ in range(size))
        case 5:
            return {RANDOM.choice((1, True, "a", "b", None, 2.5)): anything(depth - 1) for _ in range(size)}
        case 6:
            return np.array([RANDOM.random() for _ in range(size)])
        case _:
            return [round(RANDOM.random(), 1) for _ in range(size)]


def shown(read, run):
    """Everything that one run shows, without what is missing."""
    numbers = {("number", name): float(read.number(name)[run]).hex() for name in read.numbers}
    texts = {("text", name): read.text(name)[run] for name in read.texts}
    return {name: entry for name, entry in {**numbers, **texts}.items() if entry not in {"nan", MISSING}}


def objects(outputs):
    array = np.empty(len(outputs), dtype=object)
    for i, output in enumerate(outputs):
        array[i] = output
    return array


@pytest.mark.parametrize("container", [list, tuple, objects])
@pytest.mark.parametrize("_", range(10))
def test_an_output_shows_the_same_alone_as_among_others(container, _):
    outputs = [anything() for _ in range(12)]
    together = columns(container(outputs))
    for run in range(len(outputs)):
        assert shown(together, run) == shown(columns(container(outputs[run : run + 1])), 0)


ROWS = ([0, 3], [0, None], [0, 2**70], [0, 2**63], [0, 0.5], [False, 2], [[1, 2], [3, 4]], [[1, 2], [3, 0.5]])


@pytest.mark.parametrize("outputs", ROWS)
def test_a_number_in_an_array_shows_the_same_whatever_dtype_another_one_needs(outputs):
    together = columns(np.array(outputs))
    for run in range(2):
        assert shown(together, run) == shown(columns(np.array(outputs[run : run + 1])), 0)


def test_integers_shortened_to_64_bits_show_the_same_as_others():
    narrow, wide = columns(np.array([5, 7])), columns(np.array([5, 2**70], dtype=object))
    assert shown(narrow, 0) == shown(wide, 0)


def test_the_sum_of_a_vector_does_not_depend_on_a_longer_one():
    vector = [0.1, 0.9, 0.3, 0.7, 0.2, 0.8, 0.6, 0.4, 0.5, 0.1]
    alone, beside = columns([vector]), columns([vector, vector + [0.5] * 54])
    assert alone.number("the sum of coordinates")[0] == beside.number("the sum of coordinates")[0]


@pytest.mark.parametrize("outputs", [np.array([3, 4]), np.array([0.5, 1.5]), [1, 2], ["a", "b"], np.zeros((2, 0))])
def test_the_whole_answer_and_its_type_are_always_there(outputs):
    assert {WHOLE, TYPE} <= set(columns(outputs).texts)


def test_runs_keep_their_order():
    read = columns(["b", 7, "a", "b", 7.5])
    assert read.text(ANSWER) == ["'b'", MISSING, "'a'", "'b'", MISSING]
    np.testing.assert_array_equal(read.number(ANSWER), [nan, 7, nan, nan, 7.5])
    assert len(read) == 5


def test_equal_outputs_of_different_types_are_told_apart():
    assert columns([1, 1.0, True]).text(TYPE) == ["int", "float", "bool"]


def test_what_is_never_shown_is_missing():
    read = columns([1, 2])
    assert np.isnan(read.number("coordinate 7")).all()
    assert read.text("coordinate 7") == [MISSING] * 2


def test_the_commonest_columns_come_first():
    read = columns([{"rare": 1, "common": 2}, *({"common": i} for i in range(9))])
    assert read.values == ["the value of 'common'", "the value of 'rare'"]


def test_no_outputs_have_no_columns():
    assert len(columns([])) == 0
    assert columns([]).number(ANSWER).tolist() == []


def test_keys_of_nobody_else_take_no_room():
    """A column for each of 3000 keys, with 3000 entries each, would be nine million."""
    read = columns([{f"key {i}": i} for i in range(3000)])
    assert len(read.values) == 3000
    assert np.count_nonzero(~np.isnan(read.number("the value of 'key 5'"))) == 1


@pytest.mark.parametrize(
    ("first", "second", "is_clock"),
    [
        (range(50), range(50, 100), True),
        ([*range(50), inf], [inf, *range(50)], False),
        ([i // 2 for i in range(50)], [25 + i // 2 for i in range(50)], True),
        ([0] * 50, [1] * 50, False),
        (range(50), range(50), False),
        ([*range(48), 48, 47], range(50, 100), False),
    ],
)
def test_only_a_number_that_grows_with_many_runs_is_a_clock(first, second, is_clock):
    kept, clocks = without_clocks(["the answer"], columns(list(first)), columns(list(second)))
    assert (not kept, len(clocks)) == (is_clock, is_clock)
