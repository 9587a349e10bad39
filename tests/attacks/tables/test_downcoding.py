"""Ends of intervals that were made as narrow as they can be are somebody's values."""

from dataclasses import replace

import numpy as np
import pytest

from sfumato.attacks.disclosure.generalization import generalize
from sfumato.attacks.tables.downcoding import downcoding
from sfumato.errors import ParameterError

RNG = np.random.default_rng(77)
TABLE = {"age": RNG.integers(18, 90, 300), "zip": RNG.integers(0, 1000, 300), "ill": [0] * 300}
MADE = generalize(TABLE, columns=["age", "zip"], sensitive="ill", k=3)


def test_every_end_of_the_narrowest_intervals_is_somebodys_value():
    found = downcoding(MADE, TABLE)
    assert found.successes == found.trials == 4 * len(MADE.sensitive)
    assert found.baseline < 0.5


def test_wider_intervals_give_no_more_than_blind_claims_do():
    """Ends moved outward by up to 300 hit a value of the class as often as any number does."""
    wider = replace(MADE, low=MADE.low - RNG.integers(1, 300, MADE.low.shape), high=MADE.high + 150)
    found = downcoding(wider, TABLE)
    assert found.success < 0.2
    assert found.baseline < 0.2


def test_people_of_another_table_are_refused():
    with pytest.raises(ParameterError, match="people"):
        downcoding(MADE, {"age": [200], "zip": [5000]})
