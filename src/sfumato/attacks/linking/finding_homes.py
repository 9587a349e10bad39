"""Finding homes: the mean of many noisy reports from one place is that place.

A home is reported every night. If each report has fresh noise with a standard deviation of σ in each direction, the
mean of n reports is off by about σ/√n. A device that remembers its report gives the attacker one, however often asked.
"""

from collections.abc import Callable, Iterable, Sequence
from math import cos, isfinite, radians, sqrt
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np
from scipy.special import lambertw

from sfumato.attacks.core.outcome import Outcome
from sfumato.errors import ParameterError
from sfumato.numeric.arguments import called, each, of_kind, real, result, whole
from sfumato.numeric.rationals import positive_integer, probability
from sfumato.plots.attacks import distances_over_reports

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Place: TypeAlias = tuple[float, float]
"""A latitude and a longitude, in degrees."""
Device: TypeAlias = Callable[[Place], Any]
"""Reports a place: given a latitude and a longitude, it gives others."""

_METERS_PER_DEGREE: Final = 111_195.0
_MOST_REPORTS: Final = 1_000_000
_PAIRS: Final = "pairs of a function that reports a place, and the true home"


def finding_homes(
    devices: Iterable[tuple[Device, Place]], *, reports: int, within: float = 100.0, baseline: float = 0.0
) -> Outcome:
    """Guess where people live: the mean of the reports that their devices make there.

    Args:
        devices: For each person a function that reports a place, and the home, which is reported and used to count.
        reports: The number of reports from each home.
        within: A guess is right if it is nearer than so many meters.
        baseline: The success rate of guessing without reports, such as the share of the town in such a circle.

    Raises:
        ParameterError: There are no devices, one gives no place, or an argument has a wrong type or value.

    Example:
        >>> fresh = [(textbook_planar_laplace(epsilon=0.01, seed=person), (48.86, 2.35)) for person in range(20)]
        >>> print(finding_homes(fresh, reports=400, within=50))
        finding homes by 400 reports: right in 20 of 20, 100.0% (83.2% to 100.0%); blind guessing 0.0%
        >>> print(finding_homes([(lambda home: (48.9, 2.4), (48.86, 2.35))] * 20, reports=400))
        finding homes by 400 reports: right in 0 of 20, 0.0% (0.0% to 16.8%); blind guessing 0.0%
          the same report each time from 20 of 20

    References:
        [ABCP13] for reports of one place that add up.
    """
    many = positive_integer(reports, "reports", most=_MOST_REPORTS)
    near, chance = real(within, "within", least=0, is_finite=True), float(probability(baseline, "baseline"))
    right = same = people = 0
    for report, home in _pairs(devices):
        heard = _reports(report, home, many)
        right += meters_between(_middle(heard), home) < near
        same += many > 1 and bool((heard == heard[0]).all())
        people += 1
    if not people:
        raise ParameterError("devices", "none", f"must be at least one of {_PAIRS}")
    notes = (f"the same report each time from {same:,} of {people:,}",) if same else ()
    name = f"finding homes by {many:,} report{'s' if many > 1 else ''}"
    return Outcome(attack=name, successes=right, trials=people, baseline=chance, notes=notes)


def distances_of_means(report: Device, home: Place, *, reports: Sequence[int]) -> list[float]:
    """How many meters the mean of the first reports is away from a home, for several numbers of reports.

    Args:
        report: A function that reports a place.
        home: The place that is reported.
        reports: Numbers of reports, ascending.

    Raises:
        ParameterError: Numbers do not ascend from 1, or what reports gives no place.

    Example:
        >>> apart = distances_of_means(textbook_planar_laplace(epsilon=0.01, seed=3), (0, 0), reports=[1, 10_000])
        >>> apart[1] < 10
        True
    """
    counts = [whole(count, "reports", least=1, most=_MOST_REPORTS) for count in each(reports, "reports", of="numbers")]
    if not counts or counts != sorted(set(counts)):
        raise ParameterError("reports", f"{len(counts)} numbers", "must be different numbers of reports, ascending")
    heard = _reports(called(report, "report", "a function that reports a place"), _place(home, "home"), counts[-1])
    return [meters_between(_middle(heard[:count]), _place(home, "home")) for count in counts]


def homes_picture(
    fresh: Device, remembering: Device, home: Place, *, reports: Sequence[int] = (1, 3, 10, 30, 100, 300, 1000)
) -> "Figure":
    """A chart of both: the distance of the mean from a home, over the number of reports, with and without a memory.

    Args:
        fresh: A device that draws noise for each report.
        remembering: One that repeats its report.
        home: The place that is reported.
        reports: Numbers of reports, ascending.

    Raises:
        ParameterError: An argument is none of these, or matplotlib is missing.

    Example:
        >>> noisy = textbook_planar_laplace(epsilon=0.01, seed=1)
        >>> remembered = noisy((48.86, 2.35))
        >>> figure = homes_picture(noisy, lambda home: remembered, (48.86, 2.35), reports=[1, 10])
    """
    counts = list(each(reports, "reports", of="numbers"))
    curves = {
        "fresh noise each time": distances_of_means(fresh, home, reports=counts),
        "remembered": distances_of_means(remembering, home, reports=counts),
    }
    return distances_over_reports(counts, curves)


def textbook_planar_laplace(*, epsilon: float, seed: int) -> Device:
    """The continuous planar Laplace mechanism as texts print it, in floats and with a seeded generator.

    An angle is uniform, and a radius is r = −(W₋₁((p − 1)/e) + 1)/ε for a uniform p. It is a target of attacks and a
    comparison, **never a release**: floats have gaps and a seed is known.

    Args:
        epsilon: Per meter, above 0.
        seed: Of the generator.

    Raises:
        ParameterError: ε is not above 0, or the seed is no whole number.

    Example:
        >>> latitude, longitude = textbook_planar_laplace(epsilon=0.01, seed=1)((48.86, 2.35))
        >>> meters_between((latitude, longitude), (48.86, 2.35)) < 5000
        True

    References:
        [ABCP13] Section 4.1.
    """
    rate = real(epsilon, "epsilon", is_finite=True)
    draws = np.random.default_rng(whole(seed, "seed"))  # noqa: TID251 # a target of attacks, which protects nobody
    if rate <= 0:
        raise ParameterError("epsilon", epsilon, "must be above 0")

    def report(home: Place) -> Place:
        latitude, longitude = home
        angle, p = draws.uniform(0, 2 * np.pi), draws.uniform(0, 1)
        radius = -(lambertw((p - 1) / np.e, -1).real + 1) / rate / _METERS_PER_DEGREE
        return (
            float(latitude + radius * np.sin(angle)),
            float(longitude + radius * np.cos(angle) / cos(radians(latitude))),
        )

    return report


def meters_between(first: Place, second: Place) -> float:
    """Meters between two near places, on a sphere.

    Example:
        >>> round(meters_between((0, 0), (0, 1)))
        111195
    """
    (north, east), (there, away) = first, second
    across = ((east - away + 180) % 360 - 180) * cos(radians((north + there) / 2))
    return _METERS_PER_DEGREE * sqrt((north - there) ** 2 + across**2)


def _reports(report: Device, home: Place, count: int) -> "np.ndarray[Any, np.dtype[np.float64]]":
    return np.array([_place(result(report, "devices", home), "devices") for _ in range(count)])


def _middle(heard: "np.ndarray[Any, np.dtype[np.float64]]") -> Place:
    """The mean of places, of which longitudes are taken near the first one."""
    first = heard[0, 1]
    turned = (heard[:, 1] - first + 180) % 360 - 180
    return float(heard[:, 0].mean()), float(first + turned.mean())


def _pairs(devices: Iterable[tuple[Device, Place]]) -> Iterable[tuple[Device, Place]]:
    for pair in each(devices, "devices", of=_PAIRS):
        try:
            report, home = pair
        except (TypeError, ValueError):
            raise ParameterError("devices", type(pair), f"must be {_PAIRS}") from None
        yield called(report, "devices", _PAIRS), _place(home, "devices")


def _place(place: Any, name: str) -> Place:
    """Two finite numbers."""
    try:
        latitude, longitude = of_kind(place, name, (tuple, list), "a latitude and a longitude")
    except ValueError:
        raise ParameterError(name, type(place), "must be a latitude and a longitude") from None
    found = real(latitude, name), real(longitude, name)
    if not all(map(isfinite, found)):
        raise ParameterError(name, type(place), "must be a latitude and a longitude")
    return found
