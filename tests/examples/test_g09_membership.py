import numpy as np
import pytest

import sfumato as sf
from examples import g09_membership as example
from sfumato.attacks.members.means import tracing

RNG = np.random.default_rng(9)


@pytest.fixture
def groups():
    return tuple(example.drawn(size, RNG) for size in (example.PEOPLE, example.PEOPLE, 1_000))


def standing(released, groups):
    """The mean score of those who took part, in standard deviations of the scores of other people."""
    members, _, reference = groups
    own, others = (tracing(people, released, example.FREQUENCIES) for people in (members, reference))
    return (own.mean() - others.mean()) / others.std()


@pytest.mark.statistical
def test_exact_shares_tell_who_took_part(groups):
    """Scores of members lie √(160/8) = 4.5 standard deviations above the others', in the mean of eight by ± 0.35."""
    exact = groups[0].mean(axis=0)
    assert standing(exact, groups) > 2.7, "type-I error 1e-6"
    assert example.attack(exact, groups, private=False).outcome.success > 0.6


@pytest.mark.statistical
def test_private_ones_do_not_and_cost_what_they_say(groups):
    released, people = example.private_means(groups[0])
    assert people.spent == sf.PureDP(1)
    people.close()
    assert standing(released, groups) < 1.9, "type-I error 1e-6: about 0 ± 0.35"
    assert example.attack(released, groups, private=True).outcome.allowed == pytest.approx(0.731, abs=1e-3)
