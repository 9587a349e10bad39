"""Which noisy numbers a way to group measures, each once for all that need it, and what part of the budget each gets.

A statistic of weight w would give its numbers the parts w·p of a budget, Σ p = 1, which make its own error least: with
Laplace noise, whose variance goes with 1/ε², its error is Σ p³/ε². Relative to what each statistic alone would have,
the errors of all add up to Σ over statistics of w³ · Σ p³/ε². That is least where each number has an ε in proportion to

    (Σ over statistics of (w·p)³)^(1/3),

which is w·p where one statistic needs it, and less than the sum where several do. Of joint Gaussian noise variances go
with 1/precision, and the same holds with squares and square roots. All of it follows from public facts alone.
Proof: proofs/query/planning/sharing.md.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Literal, TypeAlias

from sfumato.numeric.rationals import root_up
from sfumato.query.model.statement import RowCount, ValueCount
from sfumato.query.planning.allocation import Need, Noise, Weight
from sfumato.query.statistics.measurements import Law
from sfumato.query.statistics.recipes import CenteredSum, Component, NoisyMeasures, Outputs, Recipe

BITS: Final = 10
"""Roots are rounded up by a relative 2^-10 at most, so that scales have few digits; errors hardly change by that."""

_OF_CHOICES: Final = 32  # bits, so that rounding decides nothing

Degree: TypeAlias = Literal[2, 3]
_LAPLACE: Final = 3
_GAUSSIAN: Final = 2
_DEGREES: Final[tuple[Degree, ...]] = (_LAPLACE, _GAUSSIAN)
"""Of the powers of which sums are taken, and of the roots that weights are: by the distribution of the noise."""

_ALL_ROWS: Final = NoisyMeasures((RowCount(),))
_VALUES_THAT_ARE_NEVER_NULL: Final = NoisyMeasures((ValueCount(()),))

NeedOf: TypeAlias = Callable[[Component], Need]
Powers: TypeAlias = Mapping[int, Fraction]
"""What is added to the power of the weight of each number, by its place."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sharing:
    """What is measured for some statistics.

    Attributes:
        components: The noisy numbers.
        needs: What each of them needs.
        weights: What each of them counts; of what costs nothing it does not matter.
        places: For each statistic, which of them it is made of.
        outputs: For each statistic, its outputs.
    """

    components: tuple[Component, ...]
    needs: tuple[Need, ...]
    weights: tuple[Weight, ...]
    places: tuple[tuple[int, ...], ...]
    outputs: tuple[Outputs, ...]


def apart(recipes: Sequence[Recipe], weights: Sequence[Fraction], need_of: NeedOf) -> Sharing:
    """Every statistic with noisy numbers of its own, in equal parts, as by the first edition of the rules."""
    components = tuple(component for recipe in recipes for component in recipe.components)
    needs = tuple(map(need_of, components))
    places, parts = list[tuple[int, ...]](), list[Fraction]()
    for recipe, weight in zip(recipes, weights, strict=True):
        own = tuple(range(len(parts), len(parts) + len(recipe.components)))
        costly = sum(not needs[place].is_free for place in own)
        parts += [weight / max(costly, 1)] * len(own)
        places.append(own)
    return Sharing(
        components=components, needs=needs, weights=tuple(Weight(part, part) for part in parts), places=tuple(places),
        outputs=tuple(recipe.outputs for recipe in recipes),
    )  # fmt: skip


def shared(recipes: Sequence[Recipe], weights: Sequence[Fraction], need_of: NeedOf, *, law: Law | None) -> Sharing:
    """Each noisy number once, however many statistics need it; sums around their middle where that errs less.

    Args:
        recipes: Of the statistics.
        weights: Of the statistics.
        need_of: What a component needs.
        law: The distribution that was asked for. How to measure sums is chosen for Laplace noise unless it is Gaussian.
    """
    if len(recipes) == 1 and len(recipes[0].components) == 1 and not recipes[0].centered:
        return _alone(recipes[0], weights[0], need_of)
    numbers = _Numbers(need_of)
    ways = [_ways(recipe, weight, numbers) for recipe, weight in zip(recipes, weights, strict=True)]
    taken = _taken(ways, _GAUSSIAN if law == "gaussian" else _LAPLACE)
    used = tuple(dict.fromkeys(place for way in taken for place in way.places))
    place_of = {place: index for index, place in enumerate(used)}
    cubes, squares = (_Load([way.powers[degree] for way in taken], degree) for degree in _DEGREES)
    return Sharing(
        components=tuple(numbers.components[place] for place in used),
        needs=tuple(numbers.needs[place] for place in used),
        weights=tuple(Weight(cubes.root(place), squares.root(place)) for place in used),
        places=tuple(tuple(place_of[place] for place in way.places) for way in taken),
        outputs=tuple(way.outputs for way in taken),
    )


def _alone(recipe: Recipe, weight: Fraction, need_of: NeedOf) -> Sharing:
    """The one number of one statistic, which shares with nothing."""
    component = _measured_as(recipe.components[0])
    return Sharing(
        components=(component,), needs=(need_of(component),), weights=(Weight(weight, weight),), places=((0,),),
        outputs=(recipe.outputs,),
    )  # fmt: skip


def _measured_as(component: Component) -> Component:
    """The number by which others know it: a count of values that are never NULL is that of all rows."""
    return _ALL_ROWS if component == _VALUES_THAT_ARE_NEVER_NULL else component


class _Numbers:
    """All noisy numbers that statistics may need, each once."""

    def __init__(self, need_of: NeedOf) -> None:
        self._need_of = need_of
        self._measured: dict[tuple[NoisyMeasures, int], int] = {}
        self._times: list[int] = []
        self.components: list[Component] = []
        self.needs: list[Need] = []

    def places(self, components: Sequence[Component]) -> tuple[int, ...]:
        """Where the numbers of one statistic are; one that it needs twice has a noise of its own each time."""
        times, found = Counter[int](), list[int]()
        for component in components:
            own = _measured_as(component)
            first = self._place(own, 0)
            found.append(self._place(own, times[first]))
            times[first] += 1
        return tuple(found)

    def _place(self, component: Component, time: int) -> int:
        known = self._known(component, time)
        if known is not None:
            return known
        place = len(self.components)
        self.components.append(component)
        self.needs.append(self._need_of(component))
        self._times.append(time)
        if isinstance(component, NoisyMeasures):
            self._measured[component, time] = place
        return place

    def _known(self, component: Component, time: int) -> int | None:
        if isinstance(component, NoisyMeasures):
            return self._measured.get((component, time))
        pairs = enumerate(zip(self.components, self._times, strict=True))  # statements have no hash
        return next((place for place, pair in pairs if pair == (component, time)), None)


@dataclass(frozen=True, slots=True)
class _Way:
    """One way to make a statistic: of which numbers, how, and what it adds to their weights, for each distribution."""

    places: tuple[int, ...]
    outputs: Outputs
    powers: Mapping[Degree, Powers]


def _ways(recipe: Recipe, weight: Fraction, numbers: _Numbers) -> tuple[_Way, ...]:
    """The plain way, and perhaps centered ones."""
    places = numbers.places(recipe.components)
    parts = dict(zip(places, recipe.parts or (1,) * len(places), strict=True))
    costly = {place: part for place, part in parts.items() if not numbers.needs[place].is_free}
    given = {place: weight * part / sum(costly.values()) for place, part in costly.items()}
    powers: dict[Degree, Powers] = {degree: {place: own**degree for place, own in given.items()} for degree in _DEGREES}
    plain = _Way(places, recipe.outputs, powers)
    return plain, *(_around(centered, plain, numbers) for centered in recipe.centered if costly)


def _around(centered: CenteredSum, plain: _Way, numbers: _Numbers) -> _Way:
    """A centered way: variances of its parts relative to that of the plain sum for the same budget."""
    places = numbers.places((centered.count, centered.total))
    factors = dict(zip(places, (centered.middle, 1), strict=True))
    powers: dict[Degree, Powers] = {}
    for degree in _DEGREES:
        ((place, power),) = plain.powers[degree].items()
        variances = {own: (factor * _width(numbers.needs[own], degree)) ** 2 for own, factor in factors.items()}
        whole = _width(numbers.needs[place], degree) ** 2
        powers[degree] = {own: power * variance / whole for own, variance in variances.items() if variance}
    return _Way(places, centered.outputs, powers)


def _width(need: Need, degree: Degree) -> Fraction:
    """What the noise of a number is in proportion to."""
    if not isinstance(need, Noise):
        raise TypeError("sums are measured with noise")
    return Fraction(need.sensitivity.l1) if degree == _LAPLACE else need.sensitivity.l2


def _taken(ways: Sequence[tuple[_Way, ...]], degree: Degree) -> list[_Way]:
    """The way of each statistic with which the errors of all are least.

    A sum whose centered parts others measure anyway is made of those, so that no two answers contradict each other.
    """
    measured = {place for own in ways if len(own) == 1 for place in own[0].places}
    taken = [next((way for way in own if measured.issuperset(way.places)), own[0]) for own in ways]
    load = _Load([way.powers[degree] for way in taken], degree)
    free = {index: own for index, own in enumerate(ways) if not measured.issuperset(taken[index].places)}
    for turned in _turns(free):
        before = [taken[index].powers[degree] for index in turned]
        after = [way.powers[degree] for way in turned.values()]
        if load.change(before, after) < 0:
            load.move(before, after)
            for index, way in turned.items():
                taken[index] = way
    return taken


def _turns(ways: Mapping[int, tuple[_Way, ...]]) -> Sequence[Mapping[int, _Way]]:
    """What is tried: to center all sums with one count at once, as they pay for it together; then those of one value.

    Args:
        ways: Those of each statistic that may be made in several, by its index.
    """
    by_count: dict[int, dict[int, _Way]] = {}
    by_value: dict[tuple[int, int], dict[int, _Way]] = {}
    for index, (plain, *others) in ways.items():
        for number, way in enumerate((plain, *others)):
            by_value.setdefault((plain.places[0], number), {})[index] = way
            if number:
                by_count.setdefault(way.places[0], {})[index] = way
    return [*by_count.values(), *by_value.values()]


class _Load:
    """Powers of the weights of all numbers; the sum of their roots is what the errors of all statistics grow with."""

    def __init__(self, powers: Sequence[Powers], degree: Degree) -> None:
        self._degree = degree
        self._powers: dict[int, Fraction] = {}
        self.move((), powers)

    def root(self, place: int, bits: int = BITS) -> Fraction:
        """The weight of a number."""
        return root_up(self._powers.get(place, Fraction(0)), self._degree, bits)

    def change(self, before: Sequence[Powers], after: Sequence[Powers]) -> Fraction:
        """By how much the sum of all roots would grow."""
        moved = self._moved(before, after)
        grown = (root_up(power, self._degree, _OF_CHOICES) - self.root(at, _OF_CHOICES) for at, power in moved.items())
        return sum(grown, start=Fraction(0))

    def move(self, before: Sequence[Powers], after: Sequence[Powers]) -> None:
        """Some statistics add other powers than before."""
        self._powers |= self._moved(before, after)

    def _moved(self, before: Sequence[Powers], after: Sequence[Powers]) -> dict[int, Fraction]:
        moved: dict[int, Fraction] = {}
        for sign, powers in ((-1, before), (1, after)):
            for place, power in (pair for own in powers for pair in own.items()):
                moved[place] = moved.get(place, self._powers.get(place, Fraction(0))) + sign * power
        return moved
