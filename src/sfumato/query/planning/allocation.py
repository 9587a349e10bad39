"""How one stated total is split over all that a query releases, and which distribution each part of it gets.

Every statistic gets a share of ε in proportion to its weight; grouping sets and the selection of private keys count as
statistics of weight 1. A statistic that needs several noisy numbers gives each of them the same. What no neighbor can
move costs nothing and leaves its share to the others. With δ, each number takes the distribution of the smaller
variance, from public facts alone. All that take Gaussian noise are calibrated together, which costs far less than one
by one; δ goes in equal parts to them and to each selection of private keys.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias, TypeGuard

from sfumato.accounting.composition.joint_gaussian import joint_stddevs
from sfumato.accounting.gaussian.gaussian import analytic_stddev
from sfumato.errors import NotPrivateError, ParameterError, UnsupportedEventError
from sfumato.mechanisms.additive.gaussian import GaussianNoise
from sfumato.mechanisms.additive.laplace import Laplace
from sfumato.noise.uniform.integers import SMALLEST_SCALE
from sfumato.numeric.arguments import is_one_of
from sfumato.privacy.guarantees import ApproxDP, PureDP, exact_guarantee
from sfumato.query.analysis.stability import Sensitivity
from sfumato.query.statistics.measurements import LAWS, AdditiveNoise, Law


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
class Share:
    """What one need gets; the mechanism, and what it has to hide, if it is one of noise."""

    epsilon: Fraction
    delta: Fraction
    mechanism: AdditiveNoise | None = None
    sensitivity: Sensitivity | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Allocation:
    """The share of each need, column by column, and what all of them cost together."""

    shares: tuple[tuple[Share, ...], ...]
    charge: PureDP | ApproxDP


def allocate(
    columns: Sequence[Sequence[Need]], total: PureDP | ApproxDP, *, weights: Sequence[Fraction], law: Law | None = None
) -> Allocation:
    """Shares for the needs of each column, in order.

    Args:
        columns: For each column, what it needs.
        total: What all of them may cost together.
        weights: The weight of each column.
        law: The distribution that noise must have; None takes the better one.

    Raises:
        NotPrivateError: Private keys or Gaussian noise without δ.
        ParameterError: There is no such distribution.
    """
    if law is not None and not is_one_of(law, LAWS):
        raise ParameterError("mechanism", law, f"must be one of: {', '.join(LAWS)}")
    _check_delta(columns, total.delta, law)
    epsilons = _epsilons(columns, total.epsilon, weights)
    flat = [(need, epsilon) for column in epsilons for need, epsilon in column]
    selections = sum(_is_selection(need) for need, _ in flat)
    noise = {} if law == "laplace" else _gaussian_noise(flat, total.delta / (selections + 1), is_forced=law is not None)
    takers = selections + (1 if noise else 0)
    delta = total.delta / max(1, takers)
    shares = iter(_share(need, epsilon, delta, noise.get(index)) for index, (need, epsilon) in enumerate(flat))
    spent = sum((epsilon for _, epsilon in flat), start=Fraction(0))
    return Allocation(
        shares=tuple(tuple(next(shares) for _ in column) for column in columns),
        charge=exact_guarantee(spent, total.delta if takers else Fraction(0)),
    )


def _check_delta(columns: Sequence[Sequence[Need]], delta: Fraction, law: Law | None) -> None:
    if delta > 0:
        return
    private = [need for column in columns for need in column if _is_selection(need)]
    if private:
        raise NotPrivateError(
            " ".join(("GROUP BY", ", ".join(private[0].keys))).strip(),
            "which groups exist would reveal who is in the data; showing keys that the policy does not list needs δ",
            'Give delta="1e-6", or list the public keys in the policy: values = [...].',
        )
    if law == "gaussian" and any(isinstance(need, Noise) and not need.is_free for column in columns for need in column):
        raise NotPrivateError("Gaussian noise", "it needs δ above 0", 'Give delta="1e-6".')


def _is_selection(need: Need) -> TypeGuard[KeySelection]:
    """Whether it takes δ to show private keys; those of public rows take none."""
    return isinstance(need, KeySelection) and not need.is_free


def _epsilons(
    columns: Sequence[Sequence[Need]], epsilon: Fraction, weights: Sequence[Fraction]
) -> list[list[tuple[Need, Fraction]]]:
    """Shares by weight over the columns that cost anything, and equal ones within a column."""
    costly = [sum(not need.is_free for need in column) for column in columns]
    whole = sum((weight for weight, count in zip(weights, costly, strict=True) if count), start=Fraction(0))
    split = []
    for column, weight, count in zip(columns, weights, costly, strict=True):
        each = epsilon * weight / whole / count if count else Fraction(0)
        split.append([(need, Fraction(0) if need.is_free else each) for need in column])
    return split


def _gaussian_noise(
    flat: Sequence[tuple[Need, Fraction]], delta: Fraction, *, is_forced: bool
) -> dict[int, AdditiveNoise]:
    """The noise of those needs that take a Gaussian, by their index: all of them together cost their ε and δ.

    Starts with all that can, and leaves out those that Laplace noise of their own ε would move less, until none is.
    """
    taking = {i: (need.sensitivity, e) for i, (need, e) in enumerate(flat) if isinstance(need, Noise) and e > 0}
    if delta == 0:
        return {}
    while taking:
        whole = sum((epsilon for _, epsilon in taking.values()), start=Fraction(0))
        one = analytic_stddev(l2_sensitivity=1, epsilon=whole, delta=delta)
        variances = {i: s.l2**2 * one**2 * whole / epsilon for i, (s, epsilon) in taking.items()}
        worse = [i for i, (s, epsilon) in taking.items() if variances[i] >= 2 * (s.l1 / epsilon) ** 2]
        if is_forced or not worse:
            return _calibrated(taking, whole, delta, is_forced=is_forced)
        for index in worse:
            del taking[index]
    return {}


def _calibrated(
    taking: Mapping[int, tuple[Sensitivity, Fraction]], epsilon: Fraction, delta: Fraction, *, is_forced: bool
) -> dict[int, AdditiveNoise]:
    """Gaussian noise of widths that are certified together; none where it cannot be drawn, unless it is asked for."""
    parts = list(taking.values())
    try:
        stddevs = joint_stddevs(
            l2_sensitivities=[sensitivity.l2 for sensitivity, _ in parts],
            l0_sensitivities=[sensitivity.l0 for sensitivity, _ in parts],
            weights=[share for _, share in parts], epsilon=epsilon, delta=delta,
        )  # fmt: skip
        noise = [
            GaussianNoise(l2_sensitivity=s.l2, stddev=stddev, l0_sensitivity=s.l0)
            for (s, _), stddev in zip(parts, stddevs, strict=True)
        ]
    except (ParameterError, UnsupportedEventError):  # too narrow for an accountant, or too narrow or wide to be drawn
        if is_forced:
            requirement = (
                "needs a noise scale that cannot be drawn and certified at this ε and δ; leave the mechanism open"
            )
            raise ParameterError("mechanism", "gaussian", requirement) from None
        return {}
    return dict(zip(taking, noise, strict=True))


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
