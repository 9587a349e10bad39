from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.accounting.gaussian.gdp import GDPAccountant
from sfumato.accounting.pld.accountant import PLDAccountant
from sfumato.errors import NotPrivateError, ParameterError, SfumatoError
from sfumato.mechanisms.additive.gaussian import GaussianNoise
from sfumato.mechanisms.additive.laplace import Laplace
from sfumato.numeric.rationals import sqrt_up
from sfumato.privacy.events import ComposedEvent
from sfumato.privacy.guarantees import ApproxDP, PureDP, guarantee
from sfumato.query.analysis.stability import Sensitivity
from sfumato.query.planning.allocation import Allocation, Choice, KeySelection, Noise, Weight, allocate, laplace

ONE = Noise(Sensitivity(l1=1, l2=Fraction(1), l0=1))
FREE = Noise(Sensitivity(l1=0, l2=Fraction(0), l0=1))
WIDE = Noise(Sensitivity(l1=100, l2=Fraction(10), l0=100))
CHOICE, SELECTION = Choice(), KeySelection()
DELTA, ALL = Fraction(1, 10**6), PureDP(1)


def allocated(needs, total=ALL, weights=None, law=None) -> Allocation:
    own = weights or [Fraction(1)] * len(needs)
    return allocate(needs, total, weights=[Weight(weight, weight) for weight in own], law=law)


def shares(needs, total=ALL, weights=None):
    return [share.epsilon for share in allocated(needs, total, weights).shares]


def mechanisms(needs, total, **options):
    return [share.mechanism for share in allocated(needs, total, **options).shares]


def certified(noise, delta):
    """The ε of Gaussian noise that is released together, by an accountant that knows the discrete law."""
    event = ComposedEvent(tuple(one.event for one in noise))
    accountant = GDPAccountant() if GDPAccountant().supports(event) else PLDAccountant()
    return accountant.compose(event).epsilon(delta) if noise else 0


def test_needs_of_one_weight_share_equally():
    assert shares([ONE, ONE, WIDE, CHOICE]) == [Fraction(1, 4)] * 4


def test_shares_follow_weights():
    assert shares([ONE, ONE, CHOICE], weights=[Fraction(1), Fraction(2), Fraction(5)]) == [
        Fraction(1, 8), Fraction(1, 4), Fraction(5, 8),
    ]  # fmt: skip


def test_the_precision_of_joint_noise_follows_weights_of_its_own():
    weights = [Weight(Fraction(1), Fraction(9)), Weight(Fraction(1), Fraction(1))]
    found = allocate([WIDE, WIDE], ApproxDP(1, DELTA), weights=weights, law="gaussian")
    first, second = (share.mechanism for share in found.shares)
    assert second.stddev**2 / first.stddev**2 == pytest.approx(9)
    assert [share.epsilon for share in found.shares] == [Fraction(1, 2)] * 2
    assert certified([first, second], DELTA) <= 1


def test_the_noise_of_a_share_has_its_scale():
    assert [mechanism.scale for mechanism in mechanisms([ONE, WIDE], PureDP(1))] == [2, 200]


def test_what_nobody_moves_costs_nothing_and_leaves_its_share_to_the_others():
    assert shares([FREE, ONE, ONE]) == [0, Fraction(1, 2), Fraction(1, 2)]
    assert shares([FREE, ONE], weights=[Fraction(99), Fraction(1)]) == [0, 1]
    assert shares([KeySelection(is_free=True), Choice(is_free=True), ONE]) == [0, 0, 1]
    assert allocated([FREE, Choice(is_free=True)]).charge == PureDP(0)


def test_a_free_selection_takes_no_delta_and_needs_none():
    free = allocated([KeySelection(is_free=True), ONE], ApproxDP(1, DELTA), law="laplace")
    assert (free.shares[0].delta, free.charge) == (0, PureDP(1))
    assert allocated([KeySelection(is_free=True), ONE]).charge == PureDP(1)


def test_delta_is_taken_where_the_gaussian_has_the_smaller_variance():
    found = allocated([WIDE, ONE], ApproxDP(1, DELTA))
    assert [type(share.mechanism) for share in found.shares] == [GaussianNoise, Laplace]
    assert found.charge == ApproxDP(1, DELTA)


def test_delta_that_nobody_takes_is_not_charged():
    assert allocated([ONE, CHOICE], ApproxDP(1, DELTA)).charge == PureDP(1)


def test_selections_and_gaussian_noise_share_delta():
    found = allocated([SELECTION, WIDE, WIDE], ApproxDP(1, DELTA))
    assert found.shares[0].delta == DELTA / 2
    noise = [share.mechanism for share in found.shares[1:]]
    assert certified(noise, DELTA / 2) <= Fraction(2, 3)


def test_a_law_can_be_asked_for():
    assert [type(m) for m in mechanisms([ONE, WIDE], ApproxDP(1, DELTA), law="gaussian")] == [GaussianNoise] * 2
    assert [type(m) for m in mechanisms([ONE, WIDE], ApproxDP(1, DELTA), law="laplace")] == [Laplace] * 2


@pytest.mark.parametrize("needs", [[SELECTION], [ONE, SELECTION]])
def test_private_keys_need_delta(needs):
    with pytest.raises(NotPrivateError, match='Give delta="1e-6", or list the public keys'):
        allocated(needs)


def test_gaussian_noise_needs_delta_unless_none_is_drawn():
    with pytest.raises(NotPrivateError, match="Gaussian noise"):
        allocated([ONE], law="gaussian")
    assert allocated([FREE], law="gaussian").charge == PureDP(0)


@pytest.mark.parametrize("total", [PureDP(0), ApproxDP(0, DELTA)])
def test_with_epsilon_zero_noise_shows_nothing_and_is_not_charged(total):
    found = allocated([ONE, WIDE], total)
    assert ([share.mechanism.epsilon for share in found.shares], found.charge) == ([0, 0], PureDP(0))


EXTREMES = ("1e-15", "1e-9", "1e-3", "1", "10", "1e3", "1e5", "1e6", "1e9")


@pytest.mark.parametrize("epsilon", EXTREMES)
@pytest.mark.parametrize("needs", [[ONE], [WIDE], [WIDE] * 5, [ONE, WIDE, SELECTION]])
def test_no_epsilon_is_too_small_or_too_large_for_noise_of_some_law(needs, epsilon):
    found = allocated(needs, ApproxDP(epsilon, DELTA))
    noise = [share.mechanism for share in found.shares if share.mechanism]
    assert all(Fraction(1, 1000) <= getattr(one, "stddev", 0) + getattr(one, "scale", 0) <= 2**50 for one in noise)


@pytest.mark.parametrize("epsilon", EXTREMES)
def test_gaussian_noise_that_was_asked_for_is_drawn_or_refused_by_name(epsilon):
    try:
        noise = mechanisms([ONE, WIDE], ApproxDP(epsilon, DELTA), law="gaussian")
    except ParameterError:
        assert Fraction(epsilon) > 100
    else:
        assert certified(noise, DELTA) <= Fraction(epsilon)


def test_noise_is_never_narrower_than_the_narrowest_that_is_drawn():
    assert laplace(ONE.sensitivity, Fraction(10**9)).scale == Fraction(1, 1000)
    assert laplace(WIDE.sensitivity, Fraction(10**6)).scale == Fraction(1, 1000)
    assert laplace(WIDE.sensitivity, Fraction(10**5)).scale == Fraction(1, 1000)
    assert laplace(WIDE.sensitivity, Fraction(10)).scale == 10


def test_noise_that_would_be_too_wide_is_refused():
    with pytest.raises(ParameterError, match="scale"):
        allocated([ONE], PureDP(Fraction(1, 2**51)))


sensitivities = st.integers(0, 60).flatmap(
    lambda l1: st.integers(1, max(1, l1)).map(lambda l0: Sensitivity(l1=l1, l2=sqrt_up(Fraction(l1 * l1, l0)), l0=l0))
)
needs = sensitivities.map(Noise) | st.booleans().map(Choice) | st.booleans().map(KeySelection)
weights_of_needs = st.sampled_from([Fraction(1), Fraction(1, 7), Fraction(50)])
weighted_needs = st.lists(
    st.tuples(needs, st.builds(Weight, weights_of_needs, weights_of_needs)), min_size=1, max_size=9
)


@given(
    weighted_needs, st.sampled_from(["1e-15", "0.1", "1", "3", "1e9"]), st.sampled_from([0, "1e-9", "1e-5"]),
    st.sampled_from([None, "laplace"]),
)  # fmt: skip
def test_what_is_charged_is_what_is_released_and_stays_within_the_total(weighted, epsilon, delta, law):
    total = guarantee(epsilon, delta)
    needed = [need for need, _ in weighted]
    try:
        found = allocate(needed, total, weights=[weight for _, weight in weighted], law=law)
    except SfumatoError:
        assert not delta or epsilon == "1e-15"
        return
    pairs = list(zip(needed, found.shares, strict=True))
    gaussian = [share for _, share in pairs if isinstance(share.mechanism, GaussianNoise)]
    others = [share for _, share in pairs if not isinstance(share.mechanism, GaussianNoise)]
    joint = max((share.delta for share in gaussian), default=Fraction(0))
    assert found.charge <= total
    assert sum(share.delta for share in others) + joint == found.charge.delta
    assert sum(share.epsilon for _, share in pairs) == found.charge.epsilon
    assert certified([share.mechanism for share in gaussian], joint or 1) <= sum(share.epsilon for share in gaussian)
    for need, share in pairs:
        if isinstance(need, Noise) and isinstance(share.mechanism, Laplace) and share.mechanism.scale:
            assert need.sensitivity.l1 / share.mechanism.scale <= share.epsilon


def test_the_better_law_is_the_one_of_the_smaller_variance():
    for epsilon in ("0.1", "1", "10"):
        for need in (ONE, WIDE, Noise(Sensitivity(l1=10, l2=sqrt_up(Fraction(10)), l0=10))):
            (gaussian,) = mechanisms([need], ApproxDP(epsilon, DELTA), law="gaussian")
            (plain,) = mechanisms([need], ApproxDP(epsilon, DELTA), law="laplace")
            (best,) = mechanisms([need], ApproxDP(epsilon, DELTA))
            assert type(best) is (GaussianNoise if gaussian.stddev**2 < 2 * plain.scale**2 else Laplace)
