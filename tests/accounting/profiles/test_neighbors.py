from fractions import Fraction

from sfumato.accounting.profiles.neighbors import Neighbors
from sfumato.privacy.events import ComposedEvent, GaussianEvent, GroupEvent, PoissonSampledEvent
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE

NOISE = GaussianEvent(Fraction(4))
SAMPLE = PoissonSampledEvent(Fraction(1, 10), NOISE)
THREE = Neighbors(ADD_OR_REMOVE_ONE, size=3)


def test_they_see_events_as_their_group_does():
    seen = dict(THREE.singles(ComposedEvent((NOISE, NOISE, SAMPLE))))
    assert seen == {GaussianEvent(Fraction(4, 3)): 2, GroupEvent(SAMPLE, 3): 1}


def test_who_is_exchanged_moves_an_answer_twice():
    assert THREE.leaf(NOISE) == NOISE
    assert THREE.replaced.leaf(NOISE) == NOISE
    assert THREE.swapped.leaf(NOISE) == GaussianEvent(Fraction(2))


def test_steps_count_every_unit_added_and_removed():
    assert [who.steps for who in (THREE, THREE.replaced, THREE.swapped)] == [3, 3, 6]


def test_one_view_follows_from_another():
    assert THREE.swapped.present == THREE
    assert THREE.swapped.replaced == Neighbors(REPLACE_ONE, size=3)
    assert THREE.swapped.is_swap
