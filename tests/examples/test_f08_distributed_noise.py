import pytest

from examples import f08_distributed_noise as example
from sfumato.local import PartySum
from sfumato.mechanisms import DistributedLaplace

ANSWERED = sum(cases for hospital, cases in enumerate(example.CASES) if hospital not in example.LATE)


def test_the_total_of_those_who_answered_is_that_of_the_text():
    assert (sum(example.CASES), ANSWERED) == (217, 204)


def test_a_share_alone_is_next_to_no_noise():
    shares = [example.LAPLACE.share(7) for _ in range(300)]
    assert sum(share == 7 for share in shares) > 150


def test_a_fourth_dropout_is_refused(monkeypatch):
    monkeypatch.setattr(example, "LATE", (4, 11, 12, 13))
    for add in (example.added_by_a_notary, example.added_by_nobody):
        with pytest.raises(ValueError, match="17"):
            add(PartySum(example.LAPLACE, low=0, high=500))


@pytest.mark.statistical
@pytest.mark.parametrize("noise", [example.LAPLACE, example.SKELLAM])
def test_the_private_total_lies_within_its_error(noise):
    """A simulation of 100 surveys: the half-width is made for 95% of them."""
    protocol = PartySum(noise, low=0, high=500)
    found = [example.added_by_a_notary(protocol) for _ in range(100)]
    inside = sum(abs(estimate.total - ANSWERED) <= estimate.half_width for estimate in found)
    assert inside >= 82  # 95 expected; below 82 less than once in 10^6


def test_nobody_adds_up_what_a_notary_would():
    exact = DistributedLaplace(parties=20, max_dropouts=4, l1_sensitivity=0, epsilon=1)
    for add in (example.added_by_a_notary, example.added_by_nobody):
        assert add(PartySum(exact, low=0, high=500)).total == ANSWERED
