"""Inference of an attribute: a person is known to be in the data, and one sensitive value of theirs is not.

From a sum or a cell, of which everybody else's part is known; or from a model that was trained on it, as the value that
makes what the model says likeliest. Knowing the population guesses well too: what counts is what is above the prior.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import accumulate
from typing import Any, TypeAlias

from sfumato.attacks.core.answers import Answer, allowed, groups, refused
from sfumato.attacks.core.classes import equal, values_of
from sfumato.attacks.core.outcome import Outcome
from sfumato.errors import ParameterError
from sfumato.numeric.arguments import called, listed, of_kind, real
from sfumato.numeric.rationals import Number, nonnegative, probability
from sfumato.numeric.rounding import exp_up, float_up

Prior: TypeAlias = Mapping[Any, float]
"""The probability of each sensitive value before anything is released."""

Likelihood: TypeAlias = Callable[[Any, Any], float]
"""Of a row and a sensitive value: how likely it makes what the model is seen to say."""


def attribute_from_sums(
    curators: Iterable[tuple[Answer, float, Any]],
    *,
    question: Any,
    prior: Prior,
    scale: float = 0.0,
    epsilon: Number | None = None,
    delta: Number = 0,
) -> Outcome:
    """Subtract the known part from a released sum: the rest is the value, or near to it.

    The guess is the value v with the largest prior(v)·e^(−|answer − rest − v|/scale): the likeliest one under Laplace
    noise of that scale. Without noise it is the nearest.

    Args:
        curators: For each database: a function that answers, the sum without the person, and the true value, which is
            only used for scoring.
        question: The query for the sum, or for the count of a cell.
        prior: The probability of each value, which is a number.
        scale: The scale of the noise; 0 takes the nearest value.
        epsilon: The claimed ε of the answer if one person's value changes. From a guarantee for adding or removing a
            person it is twice that ε, or the ε for the change of this sum.
        delta: The claimed δ of the answer, likewise.

    Raises:
        ParameterError: The prior does not add up to 1, the scale is below 0, or there are no databases.

    Example:
        >>> exact = [((lambda question, ill=ill: 41 + ill), 41, ill) for ill in (0, 1, 1, 0)]
        >>> print(attribute_from_sums(exact, question="how many are ill?", prior={0: 0.5, 1: 0.5}))
        attribute from sums: right in 4 of 4, 100.0% (39.8% to 100.0%); blind guessing 50.0%
    """
    chances, scale = _chances(prior), real(scale, "scale", least=0)
    places = {value: real(value, "prior", least=-math.inf) for value in chances}
    by_prior = max(chances, key=lambda value: chances[value])
    wanted = "a function that answers, the sum without the person, and the truth"
    found = [
        (allowed(partial(_answer, question=question), answer), real(rest, "curators", least=-math.inf), truth)
        for answer, rest, truth in groups(curators, "curators", size=3, of=wanted)
    ]
    right = sum(
        equal(by_prior if answer is None else _nearest(answer - rest, chances, places, scale), truth)
        for answer, rest, truth in found
    )
    times = sum(answer is None for answer, _, _ in found)
    return Outcome(
        attack="attribute from sums",
        successes=right,
        trials=len(found),
        baseline=max(chances.values()),
        allowed=None if epsilon is None else largest_inference(prior, epsilon=epsilon, delta=delta),
        notes=refused(times, len(found)),
    )


def attribute_from_model(
    likelihood: Likelihood,
    *,
    rows: Sequence[Any],
    truths: Sequence[Any],
    prior: Prior,
    epsilon: Number | None = None,
    delta: Number = 0,
) -> Outcome:
    """Guess the value with the largest prior(v)·likelihood(row, v).

    A model that is right about people at large reveals as much about people it never saw, and no guarantee for one
    person forbids it. `epsilon` bounds the success only if the prior is what is known of a value when everything else
    is, such as of a value that is independent of all others; compare members with outsiders.

    Args:
        likelihood: From a model: for instance its probability of the row's label, were the sensitive value v.
        rows: What is known about each person, without the sensitive value.
        truths: The sensitive values, only used for scoring.
        prior: The probability of each value.
        epsilon: The claimed ε of the model if one person's value changes; None claims no guarantee.
        delta: The claimed δ of the model, likewise.

    Raises:
        ParameterError: The prior does not add up to 1, or there are no rows or not as many values.

    Example:
        >>> learnt = {("ann", "ill"): 0.9, ("ann", "well"): 0.2}
        >>> print(attribute_from_model(
        ...     lambda row, value: learnt.get((row, value), 0),
        ...     rows=["ann"], truths=["ill"], prior={"ill": 0.3, "well": 0.7},
        ... ))
        attribute from a model: right in 1 of 1, 100.0% (2.5% to 100.0%); blind guessing 70.0%

    References:
        [FLJLPR14].
    """
    chances, known, own = _chances(prior), listed(rows, "rows"), values_of(truths, "truths")
    called(likelihood, "likelihood", "a function of a row and a value")
    if len(known) != len(own):
        raise ParameterError("truths", len(own), f"must be one for each of {len(known)} rows")
    guesses = [
        max(chances, key=lambda value: chances[value] * real(likelihood(row, value), "likelihood", least=0))
        for row in known
    ]
    return Outcome(
        attack="attribute from a model",
        successes=sum(equal(guess, truth) for guess, truth in zip(guesses, own, strict=True)),
        trials=len(known),
        baseline=max(chances.values()),
        allowed=None if epsilon is None else largest_inference(prior, epsilon=epsilon, delta=delta),
    )


def largest_inference(prior: Prior, *, epsilon: Number, delta: Number = 0) -> float:
    """The largest success of guessing a value with this prior from answers that are (ε, δ)-private for its change.

    It is max over k of e^ε·P_k/(e^ε + k − 1), plus δ, where P_k is the probability of the k likeliest values. With
    δ = 0 randomized response among the best k reaches it (people with another value give any of the k evenly).

    Why no more: let Q(g|v) be the probability of guess g where v is the value, and a_g the least Q(g|v) over v. Then
    Q(v|v) ≤ e^ε·a_v + δ, and Q(v|v) ≤ 1 − Σ a_g over g ≠ v, as guesses add up to 1. With δ = 0, Σ p_v·Q(v|v) is largest
    under these where the a of the k likeliest are 1/(e^ε + k − 1) and the others 0; a δ adds at most δ·Σ p_v = δ.

    One answer may make a value more credible, up to p·e^ε/(p·e^ε + 1 − p), but not all answers can do so at once.

    Args:
        prior: The probability of each value.
        epsilon: The ε of the answers if one person's value changes.
        delta: The δ of the answers, likewise.

    Raises:
        ParameterError: The prior does not add up to 1, ε is below 0, or δ is no probability.

    Example:
        >>> round(largest_inference({0: 0.5, 1: 0.5}, epsilon=1), 3)
        0.731
        >>> round(largest_inference({0: 0.8, 1: 0.1, 2: 0.1}, epsilon=0), 3)
        0.8
        >>> round(largest_inference({0: 0.8, 1: 0.1, 2: 0.1}, epsilon=1), 3)  # one answer cannot make up for the prior
        0.8
    """
    chances = _chances(prior)
    power = exp_up(nonnegative(epsilon, "epsilon"))
    leak = float_up(probability(delta, "delta"))
    if math.isinf(power):
        return 1.0
    likeliest = accumulate(sorted(chances.values(), reverse=True))
    return min(1.0, max(power * chance / (power + others) for others, chance in enumerate(likeliest)) + leak)


def _answer(answer: Answer, question: Any) -> Any:
    found: Any = called(answer, "curators", "functions of a query")(question)
    return None if found is None else real(found, "curators", least=-math.inf)


def _nearest(left: float, chances: dict[Any, float], places: dict[Any, float], scale: float) -> Any:
    """The likeliest value; of several, the one that the prior names first."""
    possible = {value: chance for value, chance in chances.items() if chance > 0}
    if scale == 0:
        return min(possible, key=lambda value: abs(left - places[value]))
    return max(possible, key=lambda value: math.log(possible[value]) - abs(left - places[value]) / scale)


def _chances(prior: Prior) -> dict[Any, float]:
    """The prior in floats, checked."""
    of_kind(prior, "prior", Mapping, "probabilities by value, e.g. {'ill': 0.3, 'well': 0.7}")
    chances = {value: real(chance, "prior", least=0) for value, chance in prior.items()}
    if not chances or not math.isclose(math.fsum(chances.values()), 1, rel_tol=1e-9):
        raise ParameterError("prior", chances, "must be probabilities that add up to 1")
    return chances
