"""Questions for a batch, and its plan."""

from fractions import Fraction

from tests.query.planned import PEOPLE, N, ref, relation_of

from sfumato.privacy.guarantees import guarantee
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE
from sfumato.query.model.expressions import And, Compare, Comparison, Literal
from sfumato.query.model.relations import Filter
from sfumato.query.model.schema import Table, integer, text
from sfumato.query.planning.batch import compile_batch
from sfumato.query.planning.questions import presented
from sfumato.query.planning.windows import OrderKey, Window, WindowFunction
from sfumato.query.statistics.means import Mean, Sum

WIDE = Table(
    name="wide", columns={f"c{n}": integer(0, 9) for n in range(5)} | {"long": integer(0, 400), "free": text()},
)  # fmt: skip
A, S = ("a", Mean(ref("age"))), ("s", Sum(ref("age")))


def asked(child, *statistics, **clauses):
    return presented(relation_of(child), statistics=statistics or (N,), **clauses)


def planned(*questions, epsilon=1, delta=0, law=None):
    return compile_batch(questions, guarantee(epsilon, delta), neighboring_relation=ADD_OR_REMOVE_ONE, law=law)


def pairs(number=5):
    return [asked(WIDE, keys=(f"c{i}", f"c{j}")) for i in range(number) for j in range(i)]


def running(frame=None, *, of="n", by="long", partition=(), descending=False):
    return Window(
        function=WindowFunction.SUM, value=ref(of), partition=tuple(map(ref, partition)),
        order=(OrderKey(ref(by), descending),), frame=frame,
    )  # fmt: skip


def ages(condition, *statistics, keys=()):
    return asked(Filter(relation_of(PEOPLE), condition), *(statistics or (N,)), keys=keys)


def between(lower, upper, of="age"):
    return And((
        Compare(Comparison.GREATER_EQUAL, ref(of), Literal(Fraction(lower))),
        Compare(Comparison.LESS, ref(of), Literal(Fraction(upper))),
    ))  # fmt: skip
