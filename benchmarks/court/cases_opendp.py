"""OpenDP on trial: ε and δ are what the measurement's own privacy map states, for the neighbors it is tried on."""

from docket import Events, Sensitivity, case, pair

from laws import discrete_laplace, gaussian, laplace
from sfumato.audit import Verdict, small_pairs
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE

ONE_MORE = pair(0, 1, "one more")
VISITS = [[person, group] for person in range(2) for group in range(100)]
WITHOUT_THE_FIRST = pair(VISITS, VISITS[100:], "a person in each of 100 groups is removed")


@case("opendp", "integer_laplace")
def integer_laplace():
    """Laplace noise on an integer.

    Docs of make_laplace: ε = d_in/scale, discrete Laplace noise.
    """
    return Events(pairs=ONE_MORE, samples=10_000, law=discrete_laplace(1))


@case("opendp", "float_laplace")
def float_laplace():
    """Laplace noise on a float.

    Docs of make_laplace: as on integers, safe in floating point.
    """
    return Events(pairs=ONE_MORE, samples=10_000, law=laplace(1))


@case("opendp", "float_gaussian")
def float_gaussian():
    """Gaussian noise on a float.

    Docs of make_gaussian and make_zCDP_to_approxDP; ε at δ = 0.001 from make_fix_delta.
    """
    return Events(pairs=ONE_MORE, samples=10_000, law=gaussian(4))


@case("opendp", "geometric")
def geometric():
    """Geometric mechanism on [0, 20].

    Docs of make_geometric.
    """
    return Events(pairs=ONE_MORE, samples=10_000)


@case("opendp", "clamped_sum")
def clamped_sum():
    """Clamped sum of integers, all small databases.

    Docs of then_clamp, then_sum, then_laplace under the symmetric distance; rows below, in and above [0, 10].
    """
    return Events(pairs=tuple(small_pairs((-5, 3, 20), largest=2, relation=ADD_OR_REMOVE_ONE)), samples=2_000)


@case("opendp", "noisy_max")
def noisy_max():
    """Report noisy max.

    Docs of make_noisy_max, ε of its map at an L∞ distance of 1, not monotonic.
    """
    return Events(pairs=pair([0, 1, 1, 1], [1, 0, 0, 0], "each score moves by 1"), samples=10_000)


@case("opendp", "response")
def response():
    """Randomized response of a bit.

    Docs of make_randomized_response_bool.
    """
    return Events(pairs=pair(True, False, "the other answer"), samples=10_000)


@case("opendp", "unchanged_groups")
def unchanged_groups():
    """Count in one group, at most 100 groups a person.

    Docs of identifier truncation; the control of the next two, which keeps the grouping column as it is.
    """
    return Events(pairs=WITHOUT_THE_FIRST, samples=2_000)


@case("opendp", "stale_groups", expects=Verdict.PRIVACY_VIOLATION)
def stale_groups():
    """Groups are merged after truncation.

    The same query, where the grouping column is redefined after groups were truncated by it: the bound by groups is
    kept although it no longer holds (issue 2949).
    """
    return Events(pairs=WITHOUT_THE_FIRST, samples=2_000)


@case("opendp", "stale_groups_exactly", expects=Verdict.SENSITIVITY_BUG)
def stale_groups_exactly():
    """Groups are merged after truncation, without noise.

    As before, at scale 0. At scale 1 the map says ρ = 0.5, which is a distance of 1; ρ = distance²/2 (issue 2949).
    """
    return Sensitivity(pairs=WITHOUT_THE_FIRST, claimed=1, norm="l2")


@case("opendp", "max_length", expects=Verdict.PRIVACY_VIOLATION)
def max_length():
    """A group of at most k rows is replaced.

    The map at a symmetric distance of 6: three rows leave a group of at most three, three others come. It takes the
    length of a group for the largest change of it (issue 2945).
    """
    rows, others = [["a", 10]] * 3, [["a", -10]] * 3
    return Events(pairs=pair(rows, others, "three rows leave and three come"), samples=5_000)


@case("opendp", "threshold", expects=Verdict.PRIVACY_VIOLATION)
def threshold():
    """Keys above a threshold.

    The map's δ leaves out counts that equal the threshold, which are released (issue 2922).
    """
    return Events(pairs=pair([], ["ann"], "the only person is added"), samples=60_000)
