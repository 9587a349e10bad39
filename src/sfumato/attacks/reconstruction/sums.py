"""Curators to be attacked: sums of secret bits, exact or with noise of some size.

They show what noise without a proof is worth, and where the attack ends. Their noise comes from a generator that was
not made for secrets, and protects nobody.
"""

import math
from typing import Literal, TypeAlias, get_args

import numpy as np

from sfumato.attacks.core.coin_game import dice
from sfumato.attacks.reconstruction.problem import AnswerOfMask, Bits
from sfumato.errors import ParameterError
from sfumato.numeric.arguments import one_of, real, truths

Law: TypeAlias = Literal["laplace", "gaussian", "uniform"]


def exact_sums(secret: Bits) -> AnswerOfMask:
    """No noise at all.

    Example:
        >>> exact_sums(np.array([True, False, True]))(np.array([True, True, False]))
        1.0
    """
    bits = truths(secret, "secret")
    return lambda mask: float(np.count_nonzero(mask & bits))


def rounded_sums(secret: Bits, *, step: int = 5) -> AnswerOfMask:
    """Rounded to multiples of a number, as tables of statistics often are.

    Raises:
        ParameterError: The step is below 1.

    Example:
        >>> rounded_sums(np.full(8, True))(np.full(8, True))
        10.0
    """
    bits = truths(secret, "secret")
    if not 1 <= real(step, "step") < math.inf:
        raise ParameterError("step", step, "must be 1 or more, such as 5")
    return lambda mask: step * float(np.round(np.count_nonzero(mask & bits) / step))


def noisy_sums(secret: Bits, *, scale: float, law: Law = "laplace") -> AnswerOfMask:
    """With fresh noise in each answer.

    Args:
        secret: A bit for each person.
        scale: Of Laplace noise; the standard deviation of Gaussian noise; the largest error if it is uniform.
        law: Which of them.

    Raises:
        ParameterError: The scale is below 0 or infinite, or there is no such law.

    Example:
        >>> abs(noisy_sums(np.full(8, True), scale=2, law="uniform")(np.full(8, True)) - 8) <= 2
        True
    """
    one_of(law, "law", get_args(Law))
    if not 0 <= real(scale, "scale") < math.inf:
        raise ParameterError("scale", scale, "must be 0 or more, and finite")
    draws = dice()
    exact = exact_sums(secret)
    match law:
        case "laplace":
            return lambda mask: exact(mask) + float(draws.laplace(0, scale))
        case "gaussian":
            return lambda mask: exact(mask) + float(draws.normal(0, scale))
        case "uniform":
            return lambda mask: exact(mask) + float(draws.uniform(-scale, scale))
