"""Run a mechanism on two neighbours, so that the outputs can be searched and then tested."""

from collections.abc import Callable, Mapping, Sized
from collections.abc import Set as AbstractSet
from fractions import Fraction
from inspect import signature
from typing import Any, Final

from sfumato.audit.core.columns import Columns, Outputs, columns
from sfumato.audit.core.labels import label, plain
from sfumato.audit.core.roles import Mechanism, NeighborPair, Runs
from sfumato.errors import ParameterError
from sfumato.noise.uniform.bernoulli import bernoulli
from sfumato.numeric.arguments import called, of_kind, whole

MOST_SAMPLES: Final = 10**9
"""Runs on each database; their outputs are held in memory all at once."""


def run_on(pair: NeighborPair, mechanism: Mechanism, *, samples: int) -> Runs:
    """Outputs on both databases of a pair.

    The half that is searched has samples/2 runs on each side; in the half that is tested a fair coin decides for each
    of as many runs which database is asked, as the exact test of `bounds` wants.

    Args:
        pair: The databases.
        mechanism: Called four times.
        samples: Runs for each database on average, from 2 to `MOST_SAMPLES`.

    Raises:
        ParameterError: The mechanism did not give as many outputs as it was asked for, or changed its database.

    Example:
        >>> run_on(NeighborPair((1, 2), (1,), "one less"), one_by_one(len), samples=10).samples
        20
    """
    of_kind(pair, "pair", NeighborPair, "a NeighborPair")
    samples = whole(samples, "samples", least=2, most=MOST_SAMPLES)
    half = samples // 2
    tested = 2 * (samples - half)
    heads = int(bernoulli(Fraction(1, 2), tested).sum())
    return Runs(
        search=(outputs_of(mechanism, pair.database, half), outputs_of(mechanism, pair.neighbor, half)),
        test=(outputs_of(mechanism, pair.database, heads), outputs_of(mechanism, pair.neighbor, tested - heads)),
        description=pair.description,
        distance=pair.distance,
    )


def outputs_of(mechanism: Mechanism, database: Any, count: int) -> Columns:
    """What `count` runs show.

    Raises:
        ParameterError: As `run_on`.
    """
    wanted = "a function of a database and a count, such as one_by_one makes"
    called(mechanism, "mechanism", wanted, may_be_class=False)
    before = label(plain(database))
    outputs: Outputs = mechanism(database, count)
    if label(plain(database)) != before:  # then it is no neighbor of the other one any more
        raise ParameterError("mechanism", mechanism, "must leave its database as it is; give it a copy to work on")
    if _in_order(outputs):
        read = columns(outputs)
        if len(read) == count:
            return read
    raise ParameterError(
        "mechanism",
        mechanism,
        "must give a list, tuple or array with exactly as many outputs as it is asked for; "
        "one_by_one makes such a mechanism from a function of one database",
    )


def one_by_one(release: Callable[[Any], Any]) -> Mechanism:
    """A mechanism from a function that releases one answer for a database.

    An error is an output like any other, because an analyst sees it: its type and text become a label.

    Example:
        >>> one_by_one(lambda database: 1 // len(database))((), 1)
        ('ZeroDivisionError: integer division or modulo by zero',)

    Raises:
        ParameterError: It is no function.
    """
    called(release, "release", "a function of one database")

    def outcome(database: Any) -> Any:
        try:
            return release(database)
        except (Exception, SystemExit) as error:  # noqa: BLE001 # the audited code may raise anything, and it is seen
            return f"{type(error).__name__}: {error}"

    def mechanism(database: Any, count: int, /) -> Outputs:
        return tuple(outcome(database) for _ in range(count))

    return mechanism


def as_mechanism(given: Any) -> Mechanism:
    """What runs on a database so often: as it is, one run after the other, or by the `release` of a mechanism.

    Raises:
        ParameterError: It is none of these.
    """
    if not callable(given) and callable(getattr(given, "release", None)):
        return one_by_one(given.release)
    if isinstance(given, type) or not callable(given):
        wanted = "must be called as mechanism(database, count) or mechanism(database), or be a mechanism with release"
        raise ParameterError("mechanism", given, wanted)
    try:
        parameters = signature(given)
    except ValueError:  # of functions in C nothing is known
        return given  # type: ignore[no-any-return]
    try:
        parameters.bind(None, 1)
    except TypeError:
        return one_by_one(given)
    return given  # type: ignore[no-any-return]


def _in_order(outputs: Any) -> bool:
    unordered = isinstance(outputs, str | bytes | Mapping | AbstractSet)
    return isinstance(outputs, Sized) and not unordered and getattr(outputs, "ndim", 1) > 0
