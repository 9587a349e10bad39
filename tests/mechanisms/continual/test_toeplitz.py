"""What Toeplitz counters share: the lattice and the noise for what a unit moves, with rounding."""

from fractions import Fraction

import pytest

from sfumato.errors import ParameterError
from sfumato.mechanisms import BufferedToeplitz, Contribution, Participation, RunningTotal, SquareRoot
from sfumato.mechanisms.continual.toeplitz import NOISE_DIGITS, checked_counter, rounded_up, set_noise
from sfumato.privacy.neighbors import REPLACE_ONE


@pytest.fixture
def counter():
    return BufferedToeplitz(horizon=100, rho=2)


@pytest.mark.parametrize("slack", [Fraction(0), Fraction(1, 5)])
def test_noise_is_for_the_norm_and_the_rounding_of_every_number_at_every_tick(counter, slack):
    set_noise(counter, norm=Fraction(3), slack=lambda _: slack, finest=20)
    moved = (3 + slack * 10) * (1 << counter.lattice_bits)  # √(100 ticks · 1 number) = 10
    assert moved / 2 <= counter.stddev_steps <= moved / 2 * Fraction("1.000001")
    assert (counter.event.l2_sensitivity, counter.event.l0_sensitivity) == (moved, 100)


@pytest.mark.parametrize("rho", ["1e-5", "1e-3", "1", "1e3"])
@pytest.mark.parametrize("largest", [1, 10**6])
def test_the_lattice_is_as_fine_as_the_noise_allows(rho, largest):
    for kind in (SquareRoot, BufferedToeplitz):
        made = kind(horizon=100, rho=rho, contribution=Contribution.clamped(0, largest))
        assert made.lattice_bits in {30, 36} or made.stddev_steps > 1 << NOISE_DIGITS - 2
        assert made.stddev_steps < 1 << NOISE_DIGITS + 1


def test_each_relation_and_participation_has_its_own_noise():
    def stddev(**facts):
        return SquareRoot(horizon=100, rho=1, **facts).stddev(1)

    once = stddev(contribution=Contribution.clamped(0, 100))
    assert stddev(contribution=Contribution.clamped(-100, 100, REPLACE_ONE)) == pytest.approx(2 * once, rel=1e-3)
    assert stddev(contribution=Contribution.vector(l2=100)) == pytest.approx(once, rel=1e-3)
    several = stddev(contribution=Contribution.clamped(0, 100), participation=Participation(4, 25))
    assert once * 2 < several < once * 4


def test_a_half_width_holds_normal_noise_and_the_rounding(counter):
    assert counter.half_width(100) == pytest.approx(1.96 * counter.stddev(100) + 1, rel=1e-3)
    assert counter.half_width(100, "0.999") > counter.half_width(100)
    with pytest.raises(ParameterError):
        counter.half_width(101)
    with pytest.raises(ParameterError):
        counter.half_width(1, 1)


def test_a_root_is_rounded_up():
    assert rounded_up(2.0, 1) ** 2 >= 2
    assert float(rounded_up(2.0, 1)) == pytest.approx(2**0.5)
    assert rounded_up(2.0, 1 << 24) ** 2 > 2 * (1 + Fraction(1 << 24, 1 << 40))  # what so many sums may lose


def test_what_is_no_field_is_refused():
    right = (8, 9, 1, Contribution.count(), Participation(), RunningTotal())
    assert checked_counter(*right)["horizon"] == 8
    for place, wrong in ((0, 10), (0, True), (2, 0), (3, 1), (4, 1), (5, 1)):
        with pytest.raises(ParameterError):
            checked_counter(*right[:place], wrong, *right[place + 1 :])
