"""How one stated total is split over all that a query releases, and which distribution each part of it gets.

Every need gets a share of ε in proportion to its weight; `sharing` says what those are. What no neighbor can move
costs nothing and leaves its share to the others. With δ, each number takes the distribution of the smaller variance,
from public facts alone. All that take Gaussian noise are calibrated together, which costs far less than one by one; δ
goes in equal parts to them and to each selection of private keys.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias, TypeGuard

from sfumato.accounting.composition.joint_gaussian import joint_stddevs
from sfumato.accounting.gaussian.gaussian import analytic_stddev
from sfumato.errors import NotPrivateError, ParameterError, UnsupportedEventError
from sfumato.mechanisms.additive.gaussian import GaussianNoise
from sfumato.mechanisms.additive.laplace import Laplace
from sfumato.noise.uniform.integers import SMALLEST_SCALE
from sfumato.privacy.guarantees import ApproxDP, PureDP, exact_guarantee
from sfumato.query.analysis.stability import Sensitivity
from sfumato.query.statistics.measurements import AdditiveNoise, Law


@dataclass(frozen=True, slots=True)
class Noise:
    """A need for additive noise on a vector."""

    sensitivity: Sensitivity

    @property
    def is_free(self) -> bool:
        """Whether no neighbor can move it."""
        return self.sensitivity.l1 == 0


@dataclass(frozen=True, slots=True)
class Choice:
    """A need for a pure share of ε; free where no neighbor can move what is chosen from."""

    is_free: bool = False


@dataclass(frozen=True, slots=True)
class KeySelection:
    """A need for a share of ε and of δ, to show private keys; errors call them by their names."""

    is_free: bool = False
    keys: tuple[str, ...] = ()


Need: TypeAlias = Noise | Choice | KeySelection


@dataclass(frozen=True, slots=True)
class Weight:
    """What a need counts among all: for its part of ε, and for its part of the precision of joint Gaussian noise."""

    epsilon: Fraction
    precision: Fraction


@dataclass(frozen=True, slots=True)
class Share:
    """What one need gets; the mechanism, and what it has to hide, if it is one of noise."""

    epsilon: Fraction
    delta: Fraction
    mechanism: AdditiveNoise | None = None
    sensitivity: Sensitivity | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Allocation:
    """The share of each need, and what all of them cost together."""

    shares: tuple[Share, ...]
    charge: PureDP | ApproxDP


def allocate(
    needs: Sequence[Need], total: PureDP | ApproxDP, *, weights: Sequence[Weight], law: Law | None = None
) -> Allocation:
    """A share for each need, in order.

    Args:
        needs: What is needed.
        total: What all of it may cost together.
        weights: The weight of each need, above 0.
        law: The distribution that noise must have; None takes the better one.

    Raises:
        NotPrivateError: Private keys or Gaussian noise without δ.
    """
    _check_delta(needs, total.delta, law)
    epsilons = _epsilons(needs, total.epsilon, weights)
    selections = sum(map(_is_selection, needs))
    noise: dict[int, AdditiveNoise] = {}
    if total.delta and law != "laplace":
        noisy = [
            _Noisy(index, need.sensitivity, epsilon, weight.precision)
            for index, (need, epsilon, weight) in enumerate(zip(needs, epsilons, weights, strict=True))
            if isinstance(need, Noise) and epsilon > 0
        ]
        noise = _gaussian_noise(noisy, total.delta / (selections + 1), is_forced=law is not None)
    takers = selections + (1 if noise else 0)
    delta = total.delta / max(1, takers)
    return Allocation(
        shares=tuple(_share(*pair, delta, noise.get(i)) for i, pair in enumerate(zip(needs, epsilons, strict=True))),
        charge=exact_guarantee(_total(epsilons), total.delta if takers else Fraction(0)),
    )


def _check_delta(needs: Sequence[Need], delta: Fraction, law: Law | None) -> None:
    if delta > 0:
        return
    private = next(filter(_is_selection, needs), None)
    if private is not None:
        raise NotPrivateError(
            " ".join(("GROUP BY", ", ".join(private.keys))).strip(),
            "which groups exist would reveal who is in the data; showing keys that the policy does not list needs δ",
            'Give delta="1e-6", or list the public keys in the policy: values = [...].',
        )
    if law == "gaussian" and any(isinstance(need, Noise) and not need.is_free for need in needs):
        raise NotPrivateError("Gaussian noise", "it needs δ above 0", 'Give delta="1e-6".')


def _is_selection(need: Need) -> TypeGuard[KeySelection]:
    """Whether it takes δ to show private keys; those of public rows take none."""
    return isinstance(need, KeySelection) and not need.is_free


def _epsilons(needs: Sequence[Need], epsilon: Fraction, weights: Sequence[Weight]) -> list[Fraction]:
    """Shares by weight over the needs that cost anything."""
    costly = [Fraction(0) if need.is_free else own.epsilon for need, own in zip(needs, weights, strict=True)]
    whole = _total(costly)
    return [epsilon * weight / whole if weight else Fraction(0) for weight in costly]


def _total(numbers: Iterable[Fraction]) -> Fraction:
    return sum(numbers, start=Fraction(0))


@dataclass(frozen=True, slots=True)
class _Noisy:
    """A need of noise that costs something: its place among all needs, its share of ε and its weight for precision."""

    index: int
    sensitivity: Sensitivity
    epsilon: Fraction
    precision: Fraction


def _gaussian_noise(noisy: Sequence[_Noisy], delta: Fraction, *, is_forced: bool) -> dict[int, AdditiveNoise]:
    """The noise of those needs that take a Gaussian, by their index: all of them together cost their ε and δ.

    Starts with all that can, and leaves out those that Laplace noise of their own ε would move less, until none is.
    """
    taking = noisy
    while taking:
        epsilon = _total(one.epsilon for one in taking)
        whole = _total(one.precision for one in taking)
        parts = [epsilon * one.precision / whole for one in taking]
        stddev = analytic_stddev(l2_sensitivity=1, epsilon=epsilon, delta=delta)
        better = [
            one
            for one, part in zip(taking, parts, strict=True)
            if one.sensitivity.l2**2 * stddev**2 * epsilon / part < 2 * (one.sensitivity.l1 / one.epsilon) ** 2
        ]
        if is_forced or len(better) == len(taking):
            return _calibrated(taking, parts, epsilon, delta, is_forced=is_forced)
        taking = better
    return {}


def _calibrated(
    taking: Sequence[_Noisy], parts: Sequence[Fraction], epsilon: Fraction, delta: Fraction, *, is_forced: bool
) -> dict[int, AdditiveNoise]:
    """Gaussian noise of widths that are certified together; none where it cannot be drawn, unless it is asked for."""
    moved = [one.sensitivity for one in taking]
    try:
        stddevs = joint_stddevs(
            l2_sensitivities=[own.l2 for own in moved], l0_sensitivities=[own.l0 for own in moved], weights=parts,
            epsilon=epsilon, delta=delta,
        )  # fmt: skip
        noise = [
            GaussianNoise(l2_sensitivity=own.l2, stddev=stddev, l0_sensitivity=own.l0)
            for own, stddev in zip(moved, stddevs, strict=True)
        ]
    except (ParameterError, UnsupportedEventError):  # too narrow for an accountant, or too narrow or wide to be drawn
        if is_forced:
            requirement = (
                "needs a noise scale that cannot be drawn and certified at this ε and δ; leave the mechanism open"
            )
            raise ParameterError("mechanism", "gaussian", requirement) from None
        return {}
    return {one.index: drawn for one, drawn in zip(taking, noise, strict=True)}


def _share(need: Need, epsilon: Fraction, delta: Fraction, noise: AdditiveNoise | None) -> Share:
    match need:
        case Noise(sensitivity) if noise is not None:
            return Share(epsilon, delta, noise, sensitivity)
        case Noise(sensitivity):
            return Share(epsilon, Fraction(0), laplace(sensitivity, epsilon), sensitivity)
        case KeySelection():
            return Share(epsilon, Fraction(0) if need.is_free else delta)
        case Choice():
            return Share(epsilon, Fraction(0))


def laplace(sensitivity: Sensitivity, epsilon: Fraction) -> Laplace:
    """Laplace noise for at most ε: never narrower than the narrowest that is drawn, which hardly ever moves anything.

    Raises:
        ParameterError: It would be wider than the widest that is drawn.
    """
    l1 = sensitivity.l1
    return Laplace(l1_sensitivity=l1, epsilon=min(epsilon, l1 / SMALLEST_SCALE) if l1 else epsilon)
