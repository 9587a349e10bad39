"""Tickets of all sorts of plans, each with the half of a session that made it."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from fractions import Fraction
from functools import cache
from inspect import signature
from random import Random
from types import UnionType
from typing import Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from tests.acceptance.made_up import DOCUMENT, schema
from tests.attacks_on_questions.clinic import clinic, ordinary, town, townsfolk
from tests.attacks_on_questions.questions import QUESTIONS
from tests.query.planned import VISITS
from tests.relations_of import Growing, columns, private
from tests.session.desk import charge, desk, rows
from tests.session.stored_keys import BATCHES, CASES, curator, prepared, sql
from tests.strategies import policy as random_policy

import sfumato as sf
from sfumato.errors import SfumatoError
from sfumato.mechanisms.workloads.strategies import Strategy
from sfumato.privacy.guarantees import guarantee
from sfumato.query.model.expressions import ColumnRef
from sfumato.query.model.facts import Edition
from sfumato.query.model.kinds import NUMBERS, Kind
from sfumato.query.planning.questions import presented
from sfumato.query.policy.policy import SourceFacts
from sfumato.query.statistics.counts import CountDistinct, CountRows
from sfumato.query.statistics.means import Mean, Sum
from sfumato.query.statistics.measurements import Output
from sfumato.query.statistics.quantiles import Percentile
from sfumato.query.statistics.registry import OUTPUTS, STATISTICS
from sfumato.query.statistics.statistic import Statistic
from sfumato.session.asking.planning import prepare, prepare_batch
from sfumato.session.training.ordered import OrderedFit
from sfumato.session.training.plan import FitQuery, PrivateFit, TrainingQuery

ROLES = {Statistic: STATISTICS, Output: OUTPUTS, PrivateFit: (OrderedFit,), FitQuery: (TrainingQuery,)}
SURE = 10**9
ENDS = (Fraction(-2), Fraction(7))
ANALYSTS = [one["name"] for one in DOCUMENT["statement"] if one["expect"] == "answer"]


@cache
def of_case(name, edition=Edition.LATEST):
    """One of the questions whose keys are golden, by the rules of an edition."""
    planning = curator(CASES[name])
    return planning, charge(planning, prepared(CASES[name], edition))


@cache
def of_batch(name):
    """One of the batches whose keys are golden."""
    texts, epsilon, delta, law = BATCHES[name]
    planning = curator(sql(texts[0]))
    found = prepare_batch(
        planning, [sql(one).question for one in texts], text="as asked", total=guarantee(epsilon, delta), law=law
    )
    return planning, charge(planning, found)


def of_analyst(name):
    """A statement that an analyst wrote; None if it cannot be planned."""
    (statement,) = (one for one in DOCUMENT["statement"] if one["name"] == name)
    declared = schema(statement["schema"]).policy(schema(statement["schema"]).rows)
    session = sf.Session(declared, budget=sf.NO_GUARANTEE, engine="reference")
    total = guarantee(SURE, statement.get("delta", 0))
    try:
        question = session.query(statement["sql"])
        planning = question.desk
        found = prepare(planning, question.relation.child, text=statement["sql"], total=total)
    except SfumatoError:
        return None
    return planning, charge(planning, found)


ATTACKED = {asked.name: asked for asked in QUESTIONS}


def of_attack(name, law=None):
    """A question that is attacked elsewhere, about patients or a town."""
    asked = ATTACKED[name]
    with asked.open({clinic: ordinary, town: townsfolk}[asked.open](), engine="reference") as session:
        question = asked.of(session)
        planning = question.desk
        return planning, charge(planning, question._prepared(1, "1e-6", law))


def of_view():
    """A question about a view of the policy, joined to a table."""
    views = {"long_stays": "SELECT who, ward, hours FROM visits WHERE hours > 2"}
    policy = sf.Policy(
        dataset="test", version="1", data_version="1", unit_name="person", tables={"visits": VISITS},
        sources={"visits": sf.SourceFacts(source=rows(VISITS))}, views=views,
    )  # fmt: skip
    session = sf.Session(policy, budget=sf.NO_GUARANTEE, engine="reference")
    question = session.query("SELECT ward, COUNT(*) AS n FROM long_stays GROUP BY ward")
    return question.desk, charge(question.desk, question._prepared(1, 0, None))


def of_chance(seed):
    """A random question about random relations of a random policy; None where such a one is refused."""
    random = Random(seed)  # noqa: S311 # a plan of a test
    declared = random_policy(random)
    tables = (*declared.private, *declared.public)
    planning = desk(
        *((table, rows(table)) for table in tables), sources={table.name: SourceFacts(source=None) for table in tables}
    )
    try:
        child = private(Growing(random, declared), random.choice(range(4)))
        kinds = columns(child)
        keys = tuple(name for name, kind in kinds.items() if kind is not Kind.FLOAT and random.random() < 0.3)[:2]
        numbers = [ColumnRef(name) for name, kind in kinds.items() if kind in NUMBERS]
        statistics = [CountRows(), CountDistinct(ColumnRef(random.choice(list(kinds))))]
        for number in numbers[:2]:
            statistics += [Sum(number, ENDS), Mean(number, ENDS), Percentile(number, Fraction(1, 2), ENDS)]
        chosen = random.sample(statistics, random.choice([1, min(3, len(statistics))]))
        asked = presented(child, keys=keys, statistics=tuple((f"s{n}", one) for n, one in enumerate(chosen)))
        total = guarantee(1, "1e-6")
        return planning, charge(planning, prepare(planning, asked.child, text="by chance", total=total))
    except SfumatoError:
        return None


def reachable(declared, found=None):
    """All classes that a declared type may hold."""
    found = set() if found is None else found
    if isinstance(declared, TypeVar):
        inner = declared.__constraints__
    elif get_origin(declared) in {Union, UnionType, tuple} or (get_origin(declared) or declared) is Mapping:
        inner = get_args(declared)
    elif get_origin(declared) is Literal or declared in found or declared is Strategy:  # has a codec of its own
        return found
    else:
        kind = get_origin(declared) or declared
        inner = ROLES.get(kind, ())
        if is_dataclass(kind) and kind not in found:
            found.add(kind)
            own, hints = {field.name for field in fields(kind)}, get_type_hints(kind)
            inner = [hints[name] for name in signature(kind).parameters if name in own]
        elif isinstance(kind, type) and issubclass(kind, Enum):
            found.add(kind)
    for one in inner:
        reachable(one, found)
    return found
