"""Levels: ε from a radius and a factor that is never exceeded."""

from math import log

import pytest

from sfumato.errors import ParameterError
from sfumato.geo.locations.levels import LEVELS, PrivacyLevel, level_of
from sfumato.privacy.promises import MetricDP


def test_the_named_levels_are_a_factor_of_four_within_their_radius():
    assert {name: int(level.radius) for name, level in LEVELS.items()} == {"low": 200, "medium": 500, "high": 2000}
    for level in LEVELS.values():
        loss = float(level.promise.loss(level.radius))
        assert log(4) * (1 - 1e-9) < loss <= log(4)


def test_the_factor_is_never_exceeded_and_epsilon_is_per_meter():
    for radius, factor in ((1, 2), ("0.5", "1.01"), (10**6, 100)):
        level = PrivacyLevel(radius, factor)
        assert level.epsilon * level.radius <= log(float(level.factor)) * (1 + 1e-15)
        assert level.promise == MetricDP(level.epsilon, "meter")


def test_more_protection_is_a_smaller_epsilon():
    assert LEVELS["high"].epsilon < LEVELS["medium"].epsilon < LEVELS["low"].epsilon


def test_a_level_is_found_by_its_name():
    assert level_of("low") is LEVELS["low"]
    assert level_of(PrivacyLevel(3)) == PrivacyLevel(3)
    for wrong in ("none", 5, None):
        with pytest.raises(ParameterError, match="level"):
            level_of(wrong)


@pytest.mark.parametrize(("radius", "factor"), [(0, 4), (-1, 4), ("x", 4), (200, 1), (200, "x"), (10**30, 4)])
def test_what_is_out_of_range_is_refused(radius, factor):
    with pytest.raises(ParameterError, match=r"radius|factor"):
        PrivacyLevel(radius, factor)
