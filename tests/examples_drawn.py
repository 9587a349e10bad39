"""Which random examples Hypothesis draws: the same ones, whatever else is collected beside a test.

Hypothesis draws one value in twenty from a pool of constants. It adds to that pool every literal of every local module
that happens to be imported, so what a test draws depends on which other test files are collected, and on edits of
sources that the test never runs. No setting turns this off. What decides whether a change may land draws from the
constants that Hypothesis brings along, which are always the same; `make soak`, which looks for examples that no run has
seen, keeps the larger pool.
"""

from hypothesis.internal.conjecture.providers import HypothesisProvider
from hypothesis.internal.constants_ast import Constants

POOL = "_local_constants"
"""The attribute of each draw that holds the literals of local modules."""


def draw_the_same_whatever_is_imported() -> None:
    """Leave the pool of literals empty, whatever is imported later."""
    if POOL not in vars(HypothesisProvider):
        raise AssertionError(f"Hypothesis has no {POOL} any more: find what its examples depend on now")
    setattr(HypothesisProvider, POOL, Constants())
