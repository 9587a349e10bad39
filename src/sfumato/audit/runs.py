"""Run a mechanism on two neighbours, so that the outputs can be searched and then tested."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any, Final

from sfumato.audit.roles import Mechanism, NeighborPair, Outputs, Runs
from sfumato.errors import SfumatoError
from sfumato.noise.bernoulli import bernoulli

_ERRORS: Final = (
    ArithmeticError,
    AttributeError,
    LookupError,
    OSError,
    RuntimeError,
    TypeError,
    ValueError,
    SfumatoError,
)


def run_on(pair: NeighborPair, mechanism: Mechanism, *, samples: int) -> Runs:
    """Outputs on both databases of a pair.

    The half that is searched has samples/2 runs on each side; in the half that is tested a fair coin decides for each
    of as many runs which database is asked, as the exact test of `bounds` wants.

    Args:
        pair: The databases.
        mechanism: Called four times.
        samples: Runs for each database on average, 2 or more.
    """
    half = samples // 2
    tested = 2 * (samples - half)
    heads = int(bernoulli(Fraction(1, 2), tested).sum())
    return Runs(
        search=(mechanism(pair.database, half), mechanism(pair.neighbor, half)),
        test=(mechanism(pair.database, heads), mechanism(pair.neighbor, tested - heads)),
        description=pair.description,
    )


def one_by_one(release: Callable[[Any], Any]) -> Mechanism:
    """A mechanism from a function that releases one answer for a database.

    An error is an output like any other, because an analyst sees it: its type and text become a label.

    Example:
        >>> one_by_one(lambda database: 1 // len(database))((), 1)
        ('ZeroDivisionError: integer division or modulo by zero',)
    """

    def outcome(database: Any) -> Any:
        try:
            return release(database)
        except _ERRORS as error:
            return f"{type(error).__name__}: {error}"

    def mechanism(database: Any, count: int, /) -> Outputs:
        return tuple(outcome(database) for _ in range(count))

    return mechanism
