"""diffprivlib on trial, at ε = 1.

Which neighbors it means is not written down: each case takes those that its noise is made for.
"""

from docket import Events, case, pair

from laws import discrete_laplace
from sfumato.audit import Verdict, small_pairs
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE

ONE_MORE = pair(0, 1, "one more")
FIRST_REMOVED = "the first record is removed"
BLOCKS = [0, 0, 1, 1] * 5
"""Labels of twenty records, so that each of ten trees has two of one kind, until the first record is removed."""


@case("diffprivlib", "geometric")
def geometric():
    """Geometric mechanism.

    Docs of mechanisms.Geometric.
    """
    return Events(pairs=ONE_MORE, epsilon=1, samples=20_000, law=discrete_laplace(1))


@case("diffprivlib", "discrete_gaussian")
def discrete_gaussian():
    """Discrete Gaussian mechanism.

    Docs of mechanisms.GaussianDiscrete.
    """
    return Events(pairs=ONE_MORE, epsilon=1, delta="1e-3", samples=20_000)


@case("diffprivlib", "snapping")
def snapping():
    """Snapping mechanism.

    Docs of mechanisms.Snapping: made against the leak of floating-point noise.
    """
    return Events(pairs=ONE_MORE, epsilon=1, samples=20_000)


@case("diffprivlib", "permute_and_flip")
def permute_and_flip():
    """Permute and flip.

    Docs of mechanisms.PermuteAndFlip, not monotonic.
    """
    return Events(pairs=pair([0, 1, 1, 1], [1, 0, 0, 0], "each score moves by 1"), epsilon=1, samples=20_000)


@case("diffprivlib", "histogram")
def histogram():
    """Histogram of two bins, all small databases.

    Docs of tools.histogram; adding or removing a record.
    """
    return Events(pairs=tuple(small_pairs((0.5, 1.5), largest=2, relation=ADD_OR_REMOVE_ONE)), epsilon=1, samples=2_000)


@case("diffprivlib", "one_tree")
def one_tree():
    """Forest of one tree.

    Docs of models.RandomForestClassifier; the control of the next case, adding or removing a record.
    """
    pairs = *pair([0, 0, 1], [0, 1], FIRST_REMOVED), *pair([0, 1], [1], FIRST_REMOVED)
    return Events(pairs=pairs, epsilon=1, samples=500)


@case("diffprivlib", "forest", expects=Verdict.PRIVACY_VIOLATION)
def forest():
    """Forest of ten trees.

    Docs of models.RandomForestClassifier: each record trains exactly one tree. Which one depends on how many records
    come before, so that one record removed changes what every tree learns from.
    """
    return Events(pairs=pair(BLOCKS, BLOCKS[1:], FIRST_REMOVED), epsilon=1, samples=1_000)


@case("diffprivlib", "laplace", expects=Verdict.PRIVACY_VIOLATION)
def laplace():
    """Laplace mechanism.

    Docs of mechanisms.Laplace: four uniform variates guard against attacks on floating point. They do not.
    """
    return Events(pairs=ONE_MORE, epsilon=1, samples=10_000)


@case("diffprivlib", "gaussian", expects=Verdict.PRIVACY_VIOLATION)
def gaussian():
    """Analytic Gaussian mechanism.

    Docs of mechanisms.GaussianAnalytic; the same leak.
    """
    return Events(pairs=ONE_MORE, epsilon=1, delta="1e-3", samples=20_000)


@case("diffprivlib", "linear_regression", expects=Verdict.PRIVACY_VIOLATION)
def linear_regression():
    """Linear regression.

    Docs of models.LinearRegression. With lower bounds of 0 the sum of squares gets no noise, as the sensitivity is that
    of the lower bound twice (issues 104, 105, 110); what is read is the public coefficient alone.
    """
    return Events(pairs=pair([[1, 0.5]], [[1, 0.5], [100, 0.5]], "a far record is added"), epsilon=1, samples=3_000)


@case("diffprivlib", "k_means", expects=Verdict.PRIVACY_VIOLATION)
def k_means():
    """Clusters, and how well they fit.

    Docs of models.KMeans list `inertia_` among the attributes of the model; it is computed without noise.
    """
    return Events(pairs=pair([0, 0, 0], [0, 0, 1], "one record moves"), epsilon=1, samples=1_000)
