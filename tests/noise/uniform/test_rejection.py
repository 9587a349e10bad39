"""The rejection loop keeps order, fills exactly the size asked, and asks for a bounded number at a time."""

import numpy as np
import pytest

from sfumato.errors import ParameterError
from sfumato.noise.uniform.rejection import accepted


class Stream:
    """Attempts 0, 1, 2, … of which every `every`-th is accepted."""

    def __init__(self, every):
        self.every, self.next, self.batches = every, 0, []

    def __call__(self, count):
        attempts = np.arange(self.next, self.next + count)
        self.next += count
        self.batches.append(count)
        return attempts[attempts % self.every == self.every - 1]


@pytest.mark.parametrize("every", [1, 2, 7, 1000])
@pytest.mark.parametrize("size", [0, 1, 10, 999])
def test_the_first_accepted_values_are_returned_in_order(every, size):
    assert accepted(Stream(every), size).tolist() == [every - 1 + every * index for index in range(size)]


def test_attempts_are_hardly_more_than_needed():
    stream = Stream(2)
    accepted(stream, 100_000)
    assert sum(stream.batches) < 250_000


def test_rare_acceptance_asks_for_a_bounded_number_at_a_time():
    stream = Stream(300_000)
    accepted(stream, 2)
    assert max(stream.batches) == 1 << 15


def test_a_negative_size_is_refused():
    with pytest.raises(ParameterError, match="size = -1"):
        accepted(Stream(1), -1)
