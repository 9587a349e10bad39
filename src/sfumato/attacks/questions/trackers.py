"""Trackers: an interface that refuses queries about few people answers them when they are padded with others.

It is no defense to answer only about k to n − k people. Pad the person that is refused with a group of middling size,
and subtract what the group says alone [DDS79]. Conditions are whatever knows `&`, `|` and `~`: masks of NumPy, columns
of a frame.
"""

import operator
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from math import inf
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.attacks.core.answers import REFUSALS, Answer, allowed, asked, dice, groups, refused
from sfumato.attacks.core.outcome import Outcome
from sfumato.errors import NotPrivateError, ParameterError, SfumatoError
from sfumato.numeric.arguments import each, floats, real, whole
from sfumato.numeric.rationals import probability

_A_CONDITION: Final = "must be a condition on the same people as the others, with operators &, | and ~"


class Condition(Protocol):
    """Whom a query is about."""

    def __and__(self, other: Any, /) -> Any: ...
    def __or__(self, other: Any, /) -> Any: ...
    def __invert__(self) -> Any: ...


def refuses_small_sets(values: ArrayLike, *, least: int) -> Callable[[NDArray[np.bool_]], float]:
    """A curator to be attacked: exact sums over fewer than `least` people, or over all but fewer, are refused.

    It shows what a rule about the size of groups is worth. It protects nobody.

    Args:
        values: The number of each person in a sum; ones to count people.
        least: The smallest group that is answered, 1 or more.

    Raises:
        ParameterError: The rule would refuse everything, or nothing.

    Example:
        >>> payroll = refuses_small_sets([50, 60, 70, 80, 90], least=2)
        >>> payroll(np.array([True, True, False, False, False]))
        110.0
    """
    amounts, least = floats(values, "values").reshape(-1), whole(least, "least", least=1)
    if not least <= len(amounts) / 2:
        raise ParameterError("least", least, f"must lie between 1 and half of the people, {len(amounts) / 2:g}")

    def answer(condition: NDArray[np.bool_]) -> float:
        try:
            condition = np.asarray(condition)
        except ValueError:  # lists of several lengths
            condition = np.asarray(condition, dtype=object)
        if condition.shape != amounts.shape or condition.dtype != np.bool_:
            raise ParameterError("condition", condition, f"must be True or False for each of {len(amounts)} people")
        if not least <= int(condition.sum()) <= len(amounts) - least:
            raise NotPrivateError(
                "the condition", f"holds for fewer than {least} people or all but so few", "Widen it."
            )
        return float(amounts[condition].sum())

    return answer


def individual_tracker(answer: Answer, *, known: Condition, telling: Condition) -> float:
    """q(A) − q(A and not B), where "A and B" holds for the one person that is sought.

    Args:
        answer: Sums or counts over a condition.
        known: A, which holds for enough people.
        telling: B, which tells the person from the others of A.

    Raises:
        BudgetError, NotPrivateError: A padded query is refused too.

    Example:
        >>> payroll = refuses_small_sets([50, 60, 70, 80, 90], least=2)
        >>> engineers, women = np.array([True, True, True, False, False]), np.array([False, False, True, True, False])
        >>> individual_tracker(payroll, known=engineers, telling=women)
        70.0

    References:
        [DDS79]
    """
    without = _combined(operator.and_, known, _negated(telling, "telling"), "known")
    return asked(answer, known) - asked(answer, without)  # type: ignore[no-any-return]


def general_tracker(answer: Answer, *, target: Condition, tracker: Condition) -> float:
    """q(C or T) + q(C or not T) − q(T) − q(not T) = q(C), for any C that is refused.

    If C holds for too many people, the same is done with "not C". With groups of k to n − k people answered, T must
    hold for 2k to n − 2k.

    Args:
        answer: Sums or counts over a condition.
        target: C, which is refused itself.
        tracker: T, such as `find_tracker` gives.

    Raises:
        BudgetError, NotPrivateError: Padded queries are refused too: T is no tracker.

    Example:
        >>> payroll = refuses_small_sets([50, 60, 70, 80, 90, 95], least=1)
        >>> nobody_else = np.array([False, False, True, False, False, False])
        >>> general_tracker(payroll, target=nobody_else, tracker=np.arange(6) < 3)
        70.0

    References:
        [DDS79]
    """
    others, nobody = _negated(tracker, "tracker"), _negated(target, "target")

    def padded(condition: Condition) -> Any:
        first, second = (_combined(operator.or_, condition, part, "target") for part in (tracker, others))
        return asked(answer, first) + asked(answer, second)

    everybody = asked(answer, tracker) + asked(answer, others)
    try:
        return padded(target) - everybody  # type: ignore[no-any-return]
    except NotPrivateError:
        return 2 * everybody - padded(nobody)  # type: ignore[no-any-return]


def find_tracker(count: Answer, candidates: Iterable[Condition], *, least: int) -> Condition:
    """The first condition that holds for 2k to n − 2k people; most that halve the people do.

    Args:
        count: Counts over a condition.
        candidates: Conditions to try.
        least: k, the smallest group that is answered.

    Raises:
        ParameterError: None of them is a tracker.

    Example:
        >>> counts = refuses_small_sets(np.ones(10), least=2)
        >>> find_tracker(counts, [np.arange(10) < 1, np.arange(10) < 5], least=2).tolist().count(True)
        5
    """
    least = whole(least, "least", least=0)
    condition: Condition
    for condition in each(candidates, "candidates", of="conditions"):
        others = _negated(condition, "candidates")
        try:
            inside, outside = (asked(count, group, name="count") for group in (condition, others))
        except REFUSALS:
            continue
        if min(inside, outside) >= 2 * least:
            return condition
    raise ParameterError(
        "candidates", "all", f"must include a condition that holds for {2 * least} people and fails for as many"
    )


def tracking(
    answer: Answer,
    *,
    targets: Sequence[tuple[Condition, float]],
    tracker: Condition,
    baseline: float = 0.0,
    within: float = 0.5,
) -> Outcome:
    """Recover sums or counts that an interface refuses, by one general tracker.

    Args:
        answer: Sums or counts over a condition.
        targets: Conditions that are refused, each with the truth, which is for the score alone.
        tracker: T of `general_tracker`.
        baseline: The success rate of guessing without answers, also used where an answer is refused.
        within: A guess is right if it errs by less.

    Raises:
        ParameterError: There are no targets.

    Example:
        >>> payroll = refuses_small_sets([50, 60, 70, 80, 90, 95], least=1)
        >>> each = [(np.arange(6) == person, pay) for person, pay in enumerate([50, 60, 70, 80, 90, 95])]
        >>> print(tracking(payroll, targets=each, tracker=np.arange(6) < 3))
        tracker: right in 6 of 6, 100.0% (54.1% to 100.0%); blind guessing 0.0%
    """
    blind, baseline, within = dice(), float(probability(baseline, "baseline")), real(within, "within", least=-inf)
    right, unanswered = 0, 0
    pairs = [
        (target, real(truth, "targets", least=-inf))
        for target, truth in groups(targets, "targets", size=2, of="a condition and the truth")
    ]
    for target, truth in pairs:
        found = allowed(partial(general_tracker, target=target, tracker=tracker), answer)
        right += bool(blind.random() < baseline) if found is None else abs(found - truth) < within
        unanswered += found is None
    notes = refused(unanswered, len(pairs))
    return Outcome(attack="tracker", successes=right, trials=len(pairs), baseline=baseline, notes=notes)


def _negated(condition: Condition, name: str) -> Any:
    try:
        return ~condition
    except SfumatoError:
        raise
    except Exception:  # noqa: BLE001 # each library has its own for what it cannot negate
        raise ParameterError(name, condition, _A_CONDITION) from None


def _combined(combine: Callable[[Any, Any], Any], first: Any, second: Any, name: str) -> Any:
    try:
        return combine(first, second)
    except SfumatoError:
        raise
    except Exception:  # noqa: BLE001 # the same
        raise ParameterError(name, first, _A_CONDITION) from None
