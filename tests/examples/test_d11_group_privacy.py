import pytest

from examples import d11_group_privacy as example
from sfumato.errors import ParameterError
from sfumato.privacy.events import GroupEvent, PureEvent


@pytest.mark.parametrize("size", example.SIZES)
def test_a_group_of_k_has_k_epsilon(size):
    assert example.group_epsilon(size) == size * example.EPSILON


def test_the_promise_is_meaningful_up_to_one_over_epsilon():
    assert example.group_epsilon(10) == 1
    assert example.largest_belief(1) == pytest.approx(0.731, abs=0.001)


def test_it_is_almost_nothing_at_a_hundred_over_epsilon():
    assert example.group_epsilon(1_000) == 100
    assert 1 - example.largest_belief(100) < 1e-40


def test_a_group_of_nobody_is_refused():
    with pytest.raises(ParameterError):
        GroupEvent(PureEvent(example.EPSILON), 0)


@pytest.mark.statistical
def test_a_thousand_show_in_the_count():
    shown = example.private_count(1_000)
    noisy = int(shown.split(" ± ", maxsplit=1)[0].replace(",", ""))
    assert abs(noisy - 1_000) <= 145, "type-I error 5e-7: noise of scale 10 is beyond 145 no more often"
    assert "spent ε 0.1, remaining ε 0" in shown
