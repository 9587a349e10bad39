import pytest

from examples import f08_distributed_noise as example

ANSWERED = sum(cases for hospital, cases in enumerate(example.CASES) if hospital not in example.LATE)


def test_the_total_of_those_who_answered_is_that_of_the_text():
    assert (sum(example.CASES), ANSWERED) == (217, 204)


def test_a_share_alone_is_next_to_no_noise():
    shares = [example.LAPLACE.share(7) for _ in range(300)]
    assert sum(share == 7 for share in shares) > 150


def test_a_fourth_dropout_is_refused():
    with pytest.raises(ValueError, match="17"):
        example.LAPLACE.combine([example.LAPLACE.share(1)] * 16)


@pytest.mark.statistical
@pytest.mark.parametrize("mechanism", [example.LAPLACE, example.SKELLAM])
def test_the_private_total_lies_within_its_error(mechanism):
    """A simulation of 100 surveys: the half-width is made for 95% of them."""
    inside = sum(abs(example.private_total(mechanism) - ANSWERED) <= mechanism.accuracy() for _ in range(100))
    assert inside >= 82  # 95 expected; below 82 less than once in 10^6
